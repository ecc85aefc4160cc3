#include "admin/stats.hpp"

#include <fmt/format.h>

#include <random>

#include "series/label.hpp"
#include "support/catch.hpp"

using namespace seriesgate;

namespace {

budget_choice read(std::string_view query) {
    const auto choice = read_stats_arguments(query);
    INFO(query);
    REQUIRE(choice.has_value());
    return *choice;
}

std::string fault_of(std::string_view query) {
    const auto choice = read_stats_arguments(query);
    INFO(query);
    REQUIRE_FALSE(choice.has_value());
    return choice.error();
}

}  // namespace

TEST_CASE("arguments of /stats combine, in any order and however their letters are written") {
    CHECK(read("") == budget_choice{});
    CHECK(read("limit=7") == budget_choice{.shown_max = 7});
    CHECK(read("lim%69t=18446744073709551615") == budget_choice{});
    CHECK(read("&name=per.job_and-tenant&&limit=0&tenant=team-a") ==
          budget_choice{.shown_max = 0, .tenant = "team-a", .limit = "per.job_and-tenant"});
}

TEST_CASE("a tenant is named by its bytes, and found as /stats shows it") {
    CHECK(read("tenant=") == budget_choice{.tenant = ""});
    CHECK(read("tenant") == budget_choice{.tenant = ""});
    CHECK(read("tenant=a+b%20c%2Bd%26e") == budget_choice{.tenant = "a b c+d&e"});
    CHECK(read("tenant=%ff") == budget_choice{.tenant = "\\xff"});
    CHECK(read("tenant=\\xff") == budget_choice{.tenant = "\\\\xff"});
    CHECK(read("tenant=caf%C3%A9") == budget_choice{.tenant = "caf\xc3\xa9"});
    CHECK(read("tenant=" + std::string(1024, 'x')).tenant == std::string(1024, 'x'));
}

TEST_CASE("a tenant of any bytes is asked for by their hexadecimal numbers") {
    std::mt19937 random{5};
    for (int round = 0; round < 500; ++round) {
        std::string name(random() % 40, '\0');
        for (char& c : name) c = static_cast<char>(random());
        std::string query = "tenant=";
        for (const char c : name) query += fmt::format("%{:02x}", static_cast<unsigned char>(c));
        CHECK(read(query).tenant == readable(name));
    }
}

TEST_CASE("what is wrong with a question is said, and what is possible") {
    const std::string possible =
        "; /stats takes limit=N, tenant=NAME and name=NAME of a limit, each once at most and percent-encoded";
    const std::string number = "limit: expected a whole number, how many entries each list may have";
    for (const auto* query : {"limit=", "limit", "limit=-1", "limit=+1", "limit=1.5", "limit=x", "limit=%201",
                              "limit=99999999999999999999", "limit=1%00"})
        CHECK(fault_of(query) == number + possible);
    CHECK(fault_of("limit=1&limit=1") == "limit: comes twice" + possible);
    CHECK(fault_of("tenant=a&limit=1&tenant=") == "tenant: comes twice" + possible);
    CHECK(fault_of("Limit=1") == "unknown argument \"Limit\"" + possible);
    CHECK(fault_of("limit=1&=2") == "unknown argument \"\"" + possible);
    CHECK(fault_of("tenant=" + std::string(1025, 'x')) == "tenant: expected a name of at most 1024 bytes" + possible);
    for (const std::string& query : {std::string{"name="}, "name=" + std::string(101, 'x')})
        CHECK(fault_of(query) == "name: expected the name of one of limits, of at most 100 bytes" + possible);
    for (const auto* query : {"limit=1;tenant=a", "tenant=%f", "tenant=%zz", "tenant=a#b"})
        CHECK(fault_of(query) ==
              "the query has a ';', a '#', or a '%' without two hexadecimal digits behind it" + possible);
}

TEST_CASE("an argument that nobody knows is told in one short line, whatever it is made of") {
    const std::string fault = fault_of("%0a%22%ff" + std::string(60'000, 'x') + "=1");
    CHECK(fault.starts_with(R"(unknown argument "\x0a\"\xffxxx)"));
    CHECK(fault.size() < 250);
}
