#include "upstream/query_client.hpp"

#include "support/catch.hpp"
#include "support/outcome.hpp"
#include "upstream/scripted_store.hpp"

namespace seriesgate::testing::query_client_test {
namespace {

/// A client and its store in one thread.
struct scene {
    net::io_context io{1};
    scripted_store store{io};
    store_config settings = settings_for(store);
    query_client client{io, settings, "warmStart", "X-Scope-OrgID"};

    scene() { net::co_spawn(io, serve_all(store), net::detached); }
    static store_config settings_for(const scripted_store& store) {
        store_config made;
        made.backends = {store.as_backend("/")};
        return made;
    }
    query_outcome ask(unsigned status, const std::string& body) {
        store.script.push_back({.text = "HTTP/1.1 " + std::to_string(status) +
                                        " X\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body});
        const store_query asked{.path = "/api/v1/query", .arguments = {}, .tenant = {}, .is_post = false};
        query_answer answer{[](std::span<const label_view>) {}};
        return result_of(io, client.ask(asked, answer, query_client::time_limit::clock::now() + 10s));
    }
};

TEST_CASE("a long error of the store is cut between two characters") {
    scene with;
    std::string error;
    while (error.size() < 1'200) error += "é";
    for (const std::string before : {"", "x"}) {
        const std::string told = before + error;
        const query_outcome got =
            with.ask(422, R"({"status":"error","errorType":"execution","error":")" + told + "\"}");
        CHECK(got.how == query_end::too_much);
        CHECK(got.why == "422: " + told.substr(0, 1'000 - before.size()));
    }
}

}  // namespace
}  // namespace seriesgate::testing::query_client_test
