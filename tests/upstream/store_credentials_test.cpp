#include "upstream/shared_store.hpp"

#include "support/captured_log.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"

namespace seriesgate::testing::store_credentials_test {
namespace {

/// What a sender has said, as it goes on.
http::fields sent(std::string_view authorization = "Basic c2VuZGVy") {
    http::fields made;
    if (!authorization.empty()) made.insert(http::field::authorization, authorization);
    made.insert("X-Store", "sender's");
    made.insert("x-store", "sender's again");
    return made;
}

std::string value(const http::fields& of, std::string_view name) {
    std::string all;
    const auto [first, last] = of.equal_range(name);
    for (auto field = first; field != last; ++field) all += std::string{field->value()} + ";";
    return all;
}

TEST_CASE("without credentials of ours the sender's go on") {
    const store_config store;
    const store_access none{store, "upstream"};
    http::fields request = sent();
    CHECK_FALSE(none.put_into(request));
    CHECK(value(request, "Authorization") == "Basic c2VuZGVy;");
    CHECK(value(request, "X-Store") == "sender's;sender's again;");
}

TEST_CASE("a name and a password stand in place of what the sender says") {
    const scratch_directory folder;
    write_file(folder / "password", "open sesame\n");
    store_config store;
    store.basic_auth = {"Aladdin", folder / "password"};  // the example of RFC 7617
    const store_access ours{store, "upstream"};
    http::fields request = sent();
    request.insert(http::field::authorization, "twice");
    CHECK(ours.put_into(request));
    CHECK(value(request, "Authorization") == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==;");
    http::fields without = sent("");
    CHECK(ours.put_into(without));
    CHECK(value(without, "Authorization") == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==;");
}

TEST_CASE("a token is read again when its file changes") {
    const scratch_directory folder;
    write_file(folder / "token", "one");
    store_config store;
    store.bearer_token_file = folder / "token";
    store_access ours{store, "upstream"};
    const auto said = [&] {
        http::fields request = sent();
        CHECK(ours.put_into(request));
        return value(request, "Authorization");
    };
    CHECK(said() == "Bearer one;");
    write_file(folder / "token", "two");
    CHECK(said() == "Bearer one;");
    const captured_log log;
    monotonic_clock::time_point at{};
    ours.refresh({.now = at});
    ours.refresh({.now = at += std::chrono::seconds{2}});
    CHECK(said() == "Bearer two;");
    std::filesystem::remove(folder / "token");
    ours.refresh({.now = at});
    ours.refresh({.now = at += std::chrono::seconds{2}});
    CHECK(said() == "Bearer two;");
    CHECK(log.text().find("two") == std::string::npos);
}

TEST_CASE("headers of ours replace the sender's of the same name") {
    store_config store;
    store.headers = {{"X-Store", "ours"}, {"X-Other", ""}};
    const store_access ours{store, "upstream"};
    http::fields request = sent();
    CHECK_FALSE(ours.put_into(request));  // the sender shows who it is
    CHECK(value(request, "X-Store") == "ours;");
    CHECK(value(request, "X-Other") == ";");
    CHECK(value(request, "Authorization") == "Basic c2VuZGVy;");
    http::fields without = sent("");
    CHECK(ours.put_into(without));

    store.headers.emplace("authorization", "Token ours");
    const store_access with{store, "upstream"};
    CHECK(with.put_into(request));
    CHECK(value(request, "Authorization") == "Token ours;");
}

TEST_CASE("a file that cannot be read is told with its key") {
    store_config store;
    store.bearer_token_file = "/nonexistent";
    CHECK_THROWS_WITH((store_access{store, "upstream.replicateTo[1]"}),
                      "upstream.replicateTo[1].bearerTokenFile: cannot read /nonexistent: No such file or directory");
    store_config basic;
    basic.basic_auth = {"me", "/nonexistent"};
    CHECK_THROWS_WITH((store_access{basic, "upstream"}),
                      "upstream.basicAuth.passwordFile: cannot read /nonexistent: No such file or directory");
}

}  // namespace
}  // namespace seriesgate::testing::store_credentials_test
