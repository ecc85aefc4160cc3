#include "process/startup_steps.hpp"

#include <unistd.h>

#include "support/catch.hpp"

using namespace seriesgate;

TEST_CASE("tenants are told by what each may have, and how many have something else") {
    tenant_limits tenants;
    CHECK(in_words(tenants) == "no limit");
    tenants.fallback = {.hourly = 1000, .daily = 5000};
    CHECK(in_words(tenants) == "each 1000 an hour, 5000 a day");
    tenants.overrides["a"] = {};
    CHECK(in_words(tenants) == "each 1000 an hour, 5000 a day; 1 override");
    tenants.overrides["b"] = {};
    tenants.mode = limit_mode::observe;
    tenants.fallback = {.hourly = 0, .daily = 7};
    CHECK(in_words(tenants) == "each 7 a day; 2 overrides; observe");
    tenants.fallback = {};
    CHECK(in_words(tenants) == "no limit; 2 overrides; observe");
}

TEST_CASE("limits are told by number and name, the first five") {
    std::vector<label_limit> limits;
    CHECK(in_words(limits) == "none");
    limits.push_back({.name = "a", .match = {}, .each = {}, .maxima = {}, .answer = {}, .overrides = {}});
    CHECK(in_words(limits) == "1: a");
    limits[0].mode = limit_mode::observe;
    for (const char* name : {"b", "c", "d", "e", "f", "g"}) {
        limits.emplace_back();
        limits.back().name = name;
    }
    CHECK(in_words(limits) == "7: a (observe), b, c, d, e and 2 more");
}

TEST_CASE("who shows who it is, and how") {
    web_config web;
    CHECK(authentication_in_words(web) == "none");
    web.tls.emplace();
    web.tls->client_auth = client_certificates::require_any;  // is looked at by nobody
    CHECK(authentication_in_words(web) == "none");
    web.tls->client_auth = client_certificates::require_and_verify;
    CHECK(authentication_in_words(web) == "certificates");
    web.bearer_tokens.push_back({.name = "ci", .token_file = "token"});
    CHECK(authentication_in_words(web) == "tokens, certificates");
    web.basic_auth_users["prom"];
    CHECK(authentication_in_words(web) == "users, tokens, certificates");
}

TEST_CASE("a gate is called by its host and where it listens") {
    std::array<char, 256> host{};
    REQUIRE(gethostname(host.data(), host.size() - 1) == 0);
    const std::string name{host.data()};
    CHECK(gate_name({.port = 9201}) == name + ":9201");
    CHECK(gate_name({.port = 0}) == name + ":pid-" + std::to_string(getpid()));
    CHECK(gate_name({.unix_path = "/run/gate\x1b\xff"}) == name + ":/run/gate\\x1b\\xff");
}
