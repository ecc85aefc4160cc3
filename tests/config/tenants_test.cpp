#include "config/loading.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

TEST_CASE("the path of tenants is a path with one mark") {
    const auto error = [](const std::string& path) { return errors_of("tenants: {path: '" + path + "'}\n", discard); };
    for (const auto* path : {"", "/insert/{account}/prometheus/api/v1/write", "/{tenant}/api/v1/push", "/w/{tenant}"})
        CHECK(error(path) == lines{});
    for (const std::string path :
         {"/w", "w/{tenant}", "/{tenant}/", "//{tenant}", "/a{tenant}", "/{tenant}/{tenant}", "/{tenant}/{account}",
          "/{tenant}?a", "/{tenant}/%61", "/{tenant}/a b", "/{x}/{tenant}"})
        CHECK(error(path) == lines{"c.yaml:1: tenants.path: '" + path +
                                   "' is not a path with {tenant} or {account} in the place of one segment, such as "
                                   "/insert/{account}/prometheus/api/v1/write"});
}

TEST_CASE("tenants have a default and overrides") {
    const config read = loaded(
        "tenants:\n"
        "  header: THANOS-TENANT\n"
        "  default: {maxHourlySeries: 100, maxDailySeries: 400}\n"
        "  overrides:\n"
        "    team-a: {maxHourlySeries: 500, maxDailySeries: 2000}\n"
        "    'team: \"b\"':\n"
        "      maxHourlySeries: 7\n"
        "  maxTenants: 12\n");
    CHECK(read.tenant_header == "THANOS-TENANT");
    CHECK(read.rules.tenants.fallback == series_maxima{100, 400});
    CHECK(read.rules.tenants.tenants_max == 12);
    REQUIRE(read.rules.tenants.overrides.size() == 2);
    CHECK(read.rules.tenants.overrides.at("team-a") == series_maxima{500, 2000});
    CHECK(read.rules.tenants.overrides.at("team: \"b\"") == series_maxima{7, 400});
}

TEST_CASE("what a tenant's override leaves out is as in the default, wherever that stands") {
    const config read = loaded(
        "tenants:\n"
        "  overrides:\n"
        "    a: {maxDailySeries: 0}\n"
        "    b:\n"
        "    c: {}\n"
        "  default: {maxHourlySeries: 100, maxDailySeries: 400}\n");
    CHECK(read.rules.tenants.overrides.at("a") == series_maxima{100, 0});
    CHECK(read.rules.tenants.overrides.at("b") == series_maxima{100, 400});
    CHECK(read.rules.tenants.overrides.at("c") == series_maxima{100, 400});
}

TEST_CASE("any text is the name of a tenant") {
    const config read = loaded("tenants: {overrides: {'': {}, 'a.b': {}, 1: {}, \"null\": {}, \"\\u00e4\\n\": {}}}\n");
    std::set<std::string> names;
    for (const auto& [name, maxima] : read.rules.tenants.overrides) names.insert(name);
    CHECK(names == std::set<std::string>{"", "a.b", "1", "null", "\xc3\xa4\n"});
}

TEST_CASE("an error in a tenant's override names the tenant") {
    CHECK(errors_of("tenants:\n"
                    "  overrides:\n"
                    "    team-a: {maxHourlySeries: -5, maxDailySerie: 7}\n"
                    "    team-b: {maxHourlySeries: 5,\n"
                    "             maxHourlySeries: 6}\n"
                    "    team-a: {}\n"
                    "    team-c: 5\n"
                    "    team-d: [maxHourlySeries]\n"
                    "    '': {maxDailySeries: }\n"
                    "    ~: {}\n") ==
          lines{"c.yaml:3: tenants.overrides.team-a.maxDailySerie: unknown key, did you mean 'maxDailySeries'?",
                "c.yaml:3: tenants.overrides.team-a.maxHourlySeries: '-5' is negative; 0 is no limit",
                "c.yaml:5: tenants.overrides.team-b.maxHourlySeries: is set twice, first on line 4",
                "c.yaml:6: tenants.overrides.team-a: is set twice, first on line 3",
                "c.yaml:7: tenants.overrides.team-c: expected keys below it, got '5'",
                "c.yaml:8: tenants.overrides.team-d: expected keys below it, got a list",
                "c.yaml:9: tenants.overrides.''.maxDailySeries: has no value", "c.yaml:10: a key must be plain text"});
    check_error("tenants: {overrides: {\"a\\nb\": {x: 1}}}", "tenants.overrides.a?b.x: unknown key");
}

TEST_CASE("the other keys of tenants have bounds") {
    const auto header_error = [](const std::string& name) { return errors_of("tenants: {header: '" + name + "'}\n"); };
    for (const std::string name : {"", "X Scope", "X-Scope:", "X/Y", "\xc3\xa4", "a(b)"}) {
        CAPTURE(name);
        CHECK(header_error(name) ==
              lines{"c.yaml:1: tenants.header: '" + name + "' is not the name of an HTTP header"});
    }
    CHECK(loaded("tenants: {header: \"!#$%&'*+-.^_`|~09azAZ\"}\n").tenant_header == "!#$%&'*+-.^_`|~09azAZ");
    for (const std::string name : {"Connection", "te", "Proxy-Authorization", "content-length"})
        CHECK(header_error(name) == lines{"c.yaml:1: tenants.header: '" + name +
                                          "' does not go on to the upstream, so that it would not see the tenant"});
    check_error("tenants: {maxTenants: 0}", "tenants.maxTenants: '0' is too small, at least 1");
    check_error("tenants: {maxTenants: 10000001}", "tenants.maxTenants: '10000001' is too large, at most 10000000");
    check_error("tenants: {default: {maxHourlySeries: x}}",
                "tenants.default.maxHourlySeries: 'x' is not a whole number such as 5000 or 500k; 0 is no limit");
    check_error("tenants: {default: {maxTenants: 5}}",
                "tenants.default.maxTenants: unknown key, did you mean 'tenants.maxTenants'?");
    check_error("tenants: {maxHourlySeries: 5}",
                "tenants.maxHourlySeries: unknown key, did you mean 'tenants.default.maxHourlySeries'?");
    check_error("tenants: {overrides: team-a}", "tenants.overrides: expected keys below it, got 'team-a'");
    check_error("tenants: team-a", "tenants: expected keys below it, got 'team-a'");
}

TEST_CASE("an override for a tenant whose requests are rejected is an error") {
    const auto errors_for = [](std::size_t name_bytes) {
        return errors_of("tenants:\n  overrides:\n    ? " + std::string(name_bytes, 'a') +
                         "\n    : {maxHourlySeries: 1}\n");
    };
    CHECK(errors_for(1024).empty());
    const lines errors = errors_for(1025);
    REQUIRE(errors.size() == 1);
    CHECK(errors[0].ends_with(": is a name of more than 1024 bytes: requests of such tenants are rejected"));
}

TEST_CASE("what senders are told is the gate's, unless the tenants say something else, unless a tenant does") {
    const auto answers = [](const std::string& text) {
        limit_rules rules;
        rules.tenants = loaded(text).rules.tenants;
        std::string of;
        for (const char* tenant : {"", "a", "b"}) of += answer_of(rules, tenant) == limit_answer::reject ? 'r' : 'd';
        return of;
    };
    const std::string overrides = "  overrides: {a: {onLimit: reject}, b: {onLimit: drop}}\n";
    CHECK(answers("{}\n") == "ddd");
    CHECK(answers("onLimit: reject\n") == "rrr");
    CHECK(answers("tenants:\n  onLimit: reject\n") == "rrr");
    CHECK(answers("onLimit: reject\ntenants: {onLimit: drop}\n") == "ddd");
    CHECK(answers("tenants:\n" + overrides) == "drd");
    CHECK(answers("tenants:\n" + overrides + "onLimit: reject\n") == "rrd");
    CHECK(loaded("rejectStatus: 409\n").reject_status == 409);
    CHECK(loaded("rejectStatus: 429\n").reject_status == 429);
    CHECK(errors_of("onLimit: refuse\nrejectStatus: 403\n") ==
          lines{"c.yaml:1: onLimit: 'refuse' is neither drop nor reject",
                "c.yaml:2: rejectStatus: '403' is none of 400, 409 and 429"});
    CHECK(errors_of("tenants: {onLimit: 1, overrides: {a: {onLimit: }}}\n").size() == 2);
}
