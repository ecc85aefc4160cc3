#include "process/web_access.hpp"

#include <sys/stat.h>

#include <chrono>
#include <string>
#include <string_view>
#include "config/load.hpp"
#include "support/captured_log.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"

namespace seriesgate::testing::web_access_test {
namespace {

constexpr std::string_view alice =
    "basic_auth_users: {a: $2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW}\n";
constexpr std::string_view ci = "bearer_tokens: [{name: ci, token_file: token}]\n";
constexpr std::string_view tls = "tls_server_config: {cert_file: c, key_file: k}\n";

/// A file that the test writes, and a clock that it sets.
struct scene {
    scratch_directory folder;
    std::string file = folder / "web.yml";
    web_config running;
    access_control control;
    gauge successful;
    web_access web;
    web_access::clock::time_point now = web_access::clock::now();

    explicit scene(const std::string& text = "{}")
        : running(read(text)), control(running), web(file, running, control, successful) {}

    web_config read(const std::string& text) {
        write_file(folder / "token", "t0ken\n");
        write_file(file, text);
        const web_outcome outcome = load_web_config(file);
        REQUIRE(outcome.ok());
        return outcome.value;
    }
    /// Once a second.
    void look(int times) {
        for (; times > 0; --times) web.refresh(now += 1s);
    }
    /// Long enough for a file that names another.
    void commit() { look(6); }
    [[nodiscard]] bool asks() const { return control.rules()->has_users(); }
    [[nodiscard]] bool knows_token() {
        return control.decide({.path = "/", .authorization = "Bearer t0ken"}).is == access_verdict::granted;
    }
};

std::string both(std::string_view one, std::string_view other) {
    return std::string{one}.append(other);
}

TEST_CASE("a file that has changed since it was read is taken over when it has settled") {
    scene at;
    write_file(at.file, alice);
    at.look(2);
    CHECK_FALSE(at.asks());
    at.look(1);
    CHECK(at.asks());
    CHECK(at.successful.value() == 1);
}

TEST_CASE("who still writes is waited for") {
    scene at{std::string{alice}};
    at.commit();
    write_file(at.file, both(ci, "auth_excl"));
    at.look(2);
    write_file(at.file, both(ci, alice));
    at.look(2);
    CHECK_FALSE(at.knows_token());
    CHECK(at.successful.value() == 1);  // nobody has read the half
    at.commit();
    CHECK(at.knows_token());
}

TEST_CASE("a token that comes after the file that names it is taken then") {
    scene at;
    remove(at.folder / "token");
    write_file(at.file, ci);
    at.commit();
    CHECK(at.asks());
    CHECK(at.successful.value() == 0);
    write_file(at.folder / "token", "t0ken");
    at.commit();
    CHECK(at.knows_token());
    CHECK(at.successful.value() == 1);
}

TEST_CASE("a token whose file is gone or empty is refused, and the rest is taken") {
    const bool is_gone = GENERATE(true, false);
    scene at{std::string{ci}};
    at.commit();
    REQUIRE(at.knows_token());
    write_file(at.file, both(ci, "admin_users: []\n"));
    if (is_gone)
        remove(at.folder / "token");
    else
        write_file(at.folder / "token", "\n");
    at.commit();
    CHECK(at.asks());
    CHECK_FALSE(at.knows_token());
    CHECK(at.control.decide({.path = "/", .authorization = "Bearer"}).is == access_verdict::unauthenticated);
    CHECK(at.web.differences_to(load_web_config(at.file, bad_tokens::are_refused).value).empty());
    CHECK(at.successful.value() == 0);
}

TEST_CASE("what lasts is said again, and seldom") {
    scene at{std::string{ci}};
    write_file(at.file, both(ci, "wrong: 1\n"));
    log::set_up(log::format::logfmt, log::level::info);  // other tests leave another level
    const captured_log said;
    const std::string line =
        "level=error msg=\"web configuration not reread\" err=\"" + at.file + ":2: wrong: unknown key\"\n";
    at.look(300);
    CHECK(said.text() == line);
    at.look(600);
    CHECK(said.text() == line + line);
    write_file(at.file, ci);
    at.commit();
    CHECK(said.text() == line + line + "level=info msg=\"web configuration reread\" changes=none\n");
}

TEST_CASE("what asks less of senders is not taken without being told to") {
    struct lowering {
        std::string before;
        std::string after;
    };
    const std::string cert =
        "tls_server_config: {cert_file: c, key_file: k, client_auth_type: RequireAndVerifyClientCert, client_ca_file: "
        "a}\n";
    const auto [before, after] = GENERATE_COPY(values<lowering>({
        {std::string{alice}, ""},
        {std::string{alice}, "# alice goes\n"},
        {std::string{alice}, "{}"},
        {std::string{ci}, "auth_excluded_paths: [/-/ready]\n"},
        {both(alice, "admin_users: [a]\n"), both(alice, "auth_excluded_paths: []\n")},
        {both(alice, "auth_excluded_paths: [/-/ready]\n"), both(alice, "auth_excluded_paths: [/-/ready, /]\n")},
        {both(alice, "ingestion_users: [a]\n"), both(alice, "admin_users: [a]\n")},
        {both(alice, "tenants: {a: x}\n"), std::string{alice}},
        {cert + "tenants: {node: x}\n", cert},
        {both(tls, alice), std::string{alice}},
    }));
    CAPTURE(before, after);
    scene at{before};
    at.commit();
    write_file(at.file, after);
    at.commit();
    CHECK(at.web.differences_to(at.running).empty());
    CHECK(at.successful.value() == 0);
    write_file(at.file, before);
    at.commit();
    CHECK(at.successful.value() == 1);
}

TEST_CASE("a user goes with its tenant, and a list may get shorter") {
    scene at{both(both(alice, ci), "tenants: {ci: x}\nadmin_users: [a, ci]\nauth_excluded_paths: [/]\n")};
    write_file(at.file, both(alice, "admin_users: []\n"));
    at.commit();
    CHECK_FALSE(at.knows_token());
    CHECK(at.successful.value() == 1);
}

TEST_CASE("TLS files that are not in force show, whatever else is taken") {
    scene at;
    at.web.note_tls_files(false);
    CHECK(at.successful.value() == 0);
    at.web.take_over(at.read(std::string{alice}));
    at.commit();
    CHECK(at.asks());
    CHECK(at.successful.value() == 0);
    at.web.note_tls_files(true);
    CHECK(at.successful.value() == 1);
}

TEST_CASE("who is told to takes what asks less, but not a file that says nothing") {
    scene at{both(alice, "admin_users: [a]\n")};
    const web_config less = load_web_config_text("auth_excluded_paths: [/-/ready]\n", at.file).value;
    CHECK(at.web.mistakes_in(less).empty());
    at.web.take_over(less);
    CHECK_FALSE(at.asks());
    REQUIRE(at.web.mistakes_in({}).size() == 1);
    CHECK(at.web.mistakes_in({})[0].text() ==
          at.file + ": says nothing, and the one in force does: a restart is needed to ask nothing of anyone");
}

TEST_CASE("nothing is taken of a file with another TLS, and it is not forgotten that there is one") {
    scene at{both(tls, alice)};
    const web_config other = load_web_config_text(
                                 "tls_server_config: {cert_file: c, key_file: k, client_auth_type: "
                                 "RequireAndVerifyClientCert, client_ca_file: a}\nadmin_users: []\n",
                                 at.file)
                                 .value;
    REQUIRE(at.web.mistakes_in(other).size() == 1);
    CHECK(at.web.mistakes_in(other)[0].text() == at.file +
                                                     ": tls_server_config: is not the one that is running: a restart "
                                                     "is needed first, nothing of the file is taken");
    web_config only_tls = at.running;
    only_tls.tls->version_min = tls_version::v1_3;
    CHECK(at.web.mistakes_in(only_tls).empty());
    for (int i = 0; i < 2; ++i) {
        CHECK(at.web.differences_to(only_tls) == std::vector<std::string>{"tls_server_config"});
        at.web.take_over(only_tls);
    }
    CHECK(at.asks());
    at.web.take_over(other);  // if it was without mistakes until something else changed
    CHECK(at.web.differences_to(other) == std::vector<std::string>{"tls_server_config"});
}

TEST_CASE("what comes out of a pipe is no web configuration") {
    const scratch_directory folder;
    const std::string pipe = folder / "pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    const web_outcome read = load_web_config(pipe);
    REQUIRE(read.errors.size() == 1);
    CHECK(read.errors[0].text() ==
          pipe + ": is not a regular file: what comes from a pipe or a device cannot be read again");
}

TEST_CASE("what differs is told by its keys") {
    scene at;
    const auto next = load_web_config_text(both("auth_excluded_paths: [/health]\n", alice), "web.yml");
    CHECK(at.web.differences_to(next.value) == std::vector<std::string>{"basic_auth_users", "auth_excluded_paths"});
    CHECK_FALSE(at.asks());
    at.web.take_over(next.value);
    CHECK(at.asks());
    CHECK(at.web.differences_to(next.value).empty());
}

}  // namespace
}  // namespace seriesgate::testing::web_access_test
