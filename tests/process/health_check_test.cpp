#include "process/health_check.hpp"

#include "support/catch.hpp"

using namespace seriesgate;

namespace {

top::server_address question_of(const std::string& url) {
    top::server_address question;
    CHECK(parse_health_url(url, question).empty());
    return question;
}

}  // namespace

TEST_CASE("a URL without a path is asked for health") {
    for (const std::string url : {"http://gate:9201", "http://gate:9201/-/healthy"}) {
        CAPTURE(url);
        const auto question = question_of(url);
        CHECK(question.host == "gate");
        CHECK(question.port == 9201);
        CHECK(question.authority == "gate:9201");
        CHECK_FALSE(question.tls);
        CHECK(question.target.reveal() == "/-/healthy");
    }
    CHECK(question_of(std::string{health_url}).target.reveal() == "/-/healthy");
    CHECK(question_of("http://gate/").target.reveal() == "/");
}

TEST_CASE("path and query go into the question as they are") {
    const auto question = question_of("https://[::1]/gate/-/ready?a=%20b");
    CHECK(question.tls);
    CHECK(question.host == "::1");
    CHECK(question.port == 443);
    CHECK(question.target.reveal() == "/gate/-/ready?a=%20b");
}

TEST_CASE("a unix socket is asked for health") {
    const auto question = question_of("unix:/run/gate.sock");
    CHECK(question.unix_path == "/run/gate.sock");
    CHECK(question.host.empty());
    CHECK(question.target.reveal() == "/-/healthy");
}

TEST_CASE("what is no URL of a server is said in one line, without secrets") {
    for (const std::string url : {"gate:9201", "ftp://gate/", "http://", "http://?a", "http://ops:hunter2@gate/",
                                  "http://gate/#a", "http://gate:0/", "http://gate:99999", "unix:", "unix:gate.sock"}) {
        CAPTURE(url);
        top::server_address question;
        const std::string wrong = parse_health_url(url, question);
        CHECK_FALSE(wrong.empty());
        CHECK(std::ranges::count(wrong, '\n') == 0);
        CHECK(fault_of_health(url).find("hunter2") == std::string::npos);
        CHECK(fault_of_health(url).ends_with(wrong));
    }
}
