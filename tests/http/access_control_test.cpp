#include "http/access_control.hpp"

#include "base/clock.hpp"
#include "http/passwords.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing::access_control_test {
namespace {

/// Of the password "secret".
constexpr std::string_view hash = "$2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW";

constexpr std::string_view alice = "Basic YWxpY2U6c2VjcmV0";       // alice:secret
constexpr std::string_view alice_wrong = "Basic YWxpY2U6eA==";     // alice:x
constexpr std::string_view nobody = "Basic bm9ib2R5OnNlY3JldA==";  // nobody:secret
constexpr std::string_view ci = "Bearer t0ken";

web_config with_alice() {
    web_config made;
    made.basic_auth_users["alice"] = std::string{hash};
    return made;
}

web_config with_users() {
    web_config made = with_alice();
    made.bearer_tokens.push_back({.name = "ci", .token_file = "", .token = "t0ken"});
    return made;
}

access_question from(std::optional<std::string_view> authorization, access_side side = access_side::ingestion) {
    return {.path = "/api/v1/write", .side = side, .authorization = authorization};
}

/// A question about a page for people.
access_question to_pages(std::string_view authorization) {
    return {.path = "/", .authorization = authorization};
}

const digest_key key;

struct scene {
    access_control access{with_alice()};

    /// What is found out about a password that has not been seen.
    bool check(std::string_view authorization) {
        auto decided = access.decide(to_pages(authorization));
        REQUIRE(decided.is == access_verdict::unchecked);
        std::optional<password_verdict> verdict;
        REQUIRE(access.queue.add("10.0.0.1", *decided.unchecked, [&](password_verdict made) { verdict = made; }));
        REQUIRE(access.check_next());
        CHECK_FALSE(access.check_next());
        return verdict == password_verdict::right;
    }
};

/// KIND USER SECRET
std::string read(std::string_view value) {
    using kind = credentials::kind;
    const credentials shown = read_authorization(value);
    const std::string secret = "[" + shown.secret.reveal() + "]";
    if (shown.as == kind::bearer) return "bearer " + secret;
    return shown.as == kind::basic ? "basic [" + shown.user + "] " + secret : "unreadable";
}

TEST_CASE("a right password is checked once") {
    scene at;
    CHECK(at.check(alice));
    CHECK(at.access.decide(to_pages(alice)).is == access_verdict::granted);
    CHECK(at.access.decide(to_pages(alice), access_control::clock::now() + 24h).is == access_verdict::granted);
}

TEST_CASE("a wrong password is wrong for a while") {
    scene at;
    CHECK_FALSE(at.check(alice_wrong));
    CHECK(at.access.decide(to_pages(alice_wrong)).is == access_verdict::unauthenticated);
    CHECK(at.access.decide(to_pages(alice_wrong), access_control::clock::now() + 61s).is == access_verdict::unchecked);
}

TEST_CASE("nobody's password is never right") {
    scene at;
    CHECK_FALSE(at.check(nobody));
    CHECK(at.access.decide(to_pages(nobody)).is == access_verdict::unauthenticated);
}

TEST_CASE("wrong passwords push no right one out") {
    scene at;
    CHECK(at.check(alice));
    auto decided = at.access.decide(to_pages(alice_wrong));
    for (std::size_t i = 0; i < password_queue::orders_max; ++i) {
        password_question asked = *decided.unchecked;
        asked.of = {static_cast<unsigned char>(i)};
        (void)at.access.queue.add("10.0.0.9", asked, [](password_verdict) {});
    }
    CHECK(at.access.decide(to_pages(alice)).is == access_verdict::granted);
}

TEST_CASE("a wrong password is followed by a rest of three times what its check took") {
    scene at;
    const auto decided = at.access.decide(to_pages(alice_wrong));
    access_control::clock::duration rests{};
    const auto before = thread_cpu_clock::now();
    for (unsigned i = 0; i < 20; ++i) {
        password_question asked = *decided.unchecked;
        asked.of = {static_cast<unsigned char>(i), 1};
        REQUIRE(at.access.queue.add("10.0.0.1", asked, [](password_verdict) {}));
        const auto rest = at.access.check_next();
        REQUIRE(rest);
        rests += *rest;
    }
    // Asking belongs to no check. Now and then it takes as long as one, with fresh memory.
    CHECK(rests >= 2 * (thread_cpu_clock::now() - before));
    CHECK(at.check(alice));
}

TEST_CASE("a password that has waited too long is told to be unchecked") {
    scene at;
    const auto decided = at.access.decide(to_pages(alice_wrong));
    std::optional<password_verdict> verdict;
    const auto long_ago = access_control::clock::now() - access_control::wait_max - 1s;
    REQUIRE(at.access.queue.add(
        "10.0.0.1", *decided.unchecked, [&](password_verdict made) { verdict = made; }, long_ago));
    REQUIRE(at.access.check_next());
    CHECK(verdict == password_verdict::unchecked);
}

TEST_CASE("who may ask changes while the gate runs") {
    scene at;
    CHECK(at.access.asks());
    CHECK(at.check(alice));
    web_config next = with_alice();
    next.admin_users = user_names{};
    at.access.take_over(next);
    CHECK(at.access.decide(to_pages(alice)).is == access_verdict::forbidden);
    at.access.take_over({});
    CHECK_FALSE(at.access.asks());
    CHECK(at.access.decide(to_pages(alice_wrong)).is == access_verdict::granted);
}

TEST_CASE("nothing is asked for by an empty web configuration") {
    access_control none{{}};
    CHECK_FALSE(none.asks());
    web_config headers;
    headers.answer_headers.emplace_back("X-Frame-Options", "deny");
    CHECK(access_control{headers}.asks());
}

TEST_CASE("without users anyone may ask, and is nobody in particular") {
    const access_rules rules{{}, key, nullptr};
    const access_decision made = rules.decide(from(alice));
    CHECK(made.is == access_verdict::granted);
    CHECK(made.user.empty());
    CHECK_FALSE(made.authorization_is_ours);
    CHECK_FALSE(rules.has_users());
}

TEST_CASE("with users a request has to bring what proves one") {
    const access_rules rules{with_users(), key, nullptr};
    const auto verdict_on = [&](std::optional<std::string_view> value) { return rules.decide(from(value)).is; };
    CHECK(verdict_on(std::nullopt) == access_verdict::unauthenticated);
    CHECK(verdict_on("") == access_verdict::unauthenticated);
    CHECK(verdict_on("Digest x") == access_verdict::unauthenticated);
    CHECK(verdict_on("Bearer t0kem") == access_verdict::unauthenticated);
    CHECK(verdict_on("Bearer secret") == access_verdict::unauthenticated);
    CHECK(verdict_on(ci) == access_verdict::granted);
    CHECK(rules.decide(from(ci)).user == "ci");
    CHECK(rules.decide(from(ci)).authorization_is_ours);
    CHECK(rules.decide(from(std::nullopt)).authorization_is_ours);
}

TEST_CASE("a password is unchecked until it is remembered as right") {
    const access_rules rules{with_users(), key, nullptr};
    const access_decision first = rules.decide(from(alice));
    REQUIRE(first.is == access_verdict::unchecked);
    CHECK(first.user == "alice");
    CHECK(first.unchecked->hash == hash);
    CHECK_FALSE(first.unchecked->is_of_nobody);
    CHECK(bcrypt_matches(first.unchecked->password.reveal(), first.unchecked->hash));
    rules.remember(*first.unchecked);

    const access_decision again = rules.decide(from(alice));
    CHECK(again.is == access_verdict::granted);
    CHECK(again.user == "alice");
    CHECK(rules.decide(from(alice_wrong)).is == access_verdict::unchecked);
    CHECK(rules.knows(*first.unchecked));
}

TEST_CASE("a user that there is not takes as long as one that there is") {
    web_config config = with_users();
    config.basic_auth_users["bob"] = "$2y$09" + std::string{hash.substr(6)};
    const access_rules rules{config, key, nullptr};
    const access_decision made = rules.decide(from(nobody));
    REQUIRE(made.is == access_verdict::unchecked);
    CHECK(made.unchecked->is_of_nobody);
    CHECK(bcrypt_cost(made.unchecked->hash) == 9);
    rules.remember(*made.unchecked);
    CHECK(rules.decide(from(nobody)).is == access_verdict::unchecked);
}

TEST_CASE("without passwords a user with one is not asked for") {
    web_config config;
    config.bearer_tokens.push_back({.name = "ci", .token_file = "", .token = "t0ken"});
    const access_rules rules{config, key, nullptr};
    CHECK(rules.decide(from(alice)).is == access_verdict::unauthenticated);
    CHECK(rules.decide(from(ci)).is == access_verdict::granted);
}

TEST_CASE("what bcrypt does not look at does not count") {
    web_config config;
    config.basic_auth_users["a"] = std::string{hash};
    const access_rules rules{config, key, nullptr};
    // a:pp...p with 72 and with 75 bytes of password
    std::string text = "Basic YTpw";
    for (int i = 0; i < 23; ++i) text += "cHBw";
    const auto of = [&](const std::string& value) { return rules.decide(from(value)).unchecked->of; };
    const digest shorter = of(text);              // 70 bytes
    const digest whole = of(text + "cHBw");       // 73
    const digest longer = of(text + "cHBwcHBw");  // 76
    CHECK(same_digest(whole, longer));
    CHECK_FALSE(same_digest(shorter, whole));
}

TEST_CASE("new rules keep what was right, as long as the hash is the same") {
    const access_rules before{with_users(), key, nullptr};
    before.remember(*before.decide(from(alice)).unchecked);
    const access_rules same{with_users(), key, &before};
    CHECK(same.decide(from(alice)).is == access_verdict::granted);

    web_config changed = with_users();
    changed.basic_auth_users["alice"] = "$2y$05" + std::string{hash.substr(6)};
    const access_rules other{changed, key, &before};
    CHECK(other.decide(from(alice)).is == access_verdict::unchecked);
    other.remember(*before.decide(from(alice_wrong)).unchecked);  // asked of the hash before
    CHECK(other.decide(from(alice_wrong)).is == access_verdict::unchecked);

    changed.basic_auth_users.clear();
    const access_rules none{changed, key, &before};
    CHECK(none.decide(from(alice)).is == access_verdict::unauthenticated);
}

TEST_CASE("each side has its users") {
    web_config config = with_users();
    config.bearer_tokens.push_back({.name = "ops", .token_file = "", .token = "0ps"});
    config.ingestion_users = user_names{"ci"};
    config.admin_users = user_names{"ops"};
    const access_rules rules{config, key, nullptr};
    const auto verdict_on = [&](std::string_view value, access_side side) {
        return rules.decide(from(value, side)).is;
    };
    CHECK(verdict_on(ci, access_side::ingestion) == access_verdict::granted);
    CHECK(verdict_on(ci, access_side::admin) == access_verdict::forbidden);
    CHECK(verdict_on("Bearer 0ps", access_side::ingestion) == access_verdict::forbidden);
    CHECK(verdict_on("Bearer 0ps", access_side::admin) == access_verdict::granted);
}

TEST_CASE("a user with a tenant writes for no other") {
    web_config config = with_users();
    config.tenants["ci"] = "team-a";
    const access_rules rules{config, key, nullptr};
    access_question asked = from(ci);
    CHECK(rules.decide(asked).bound_tenant == "team-a");
    asked.tenant = "team-a";
    CHECK(rules.decide(asked).is == access_verdict::granted);
    for (const std::string_view other : {"team-b", "", "TEAM-A", "team-a "}) {
        asked.tenant = other;
        CHECK(rules.decide(asked).is == access_verdict::foreign_tenant);
    }
    asked.side = access_side::admin;
    CHECK(rules.decide(asked).is == access_verdict::granted);
}

TEST_CASE("without users the name of a certificate is the user") {
    web_config config;
    config.ingestion_users = user_names{"node.test"};
    config.tenants["node.test"] = "team-a";
    const access_rules rules{config, key, nullptr};
    access_question asked = from(std::nullopt);
    CHECK(rules.decide(asked).is == access_verdict::forbidden);
    asked.certificate_name = "other.test";
    CHECK(rules.decide(asked).is == access_verdict::forbidden);
    asked.certificate_name = "node.test";
    CHECK(rules.decide(asked).is == access_verdict::granted);
    CHECK(rules.decide(asked).user == "node.test");
    CHECK(rules.decide(asked).bound_tenant == "team-a");
    CHECK_FALSE(rules.decide(asked).authorization_is_ours);
}

TEST_CASE("a certificate does not stand in for a password") {
    const access_rules rules{with_users(), key, nullptr};
    access_question asked = from(std::nullopt);
    asked.certificate_name = "alice";
    CHECK(rules.decide(asked).is == access_verdict::unauthenticated);
    asked.authorization = ci;
    CHECK(rules.decide(asked).user == "ci");
}

TEST_CASE("anyone may ask for an excluded path, which is told by all of it") {
    web_config config = with_users();
    config.admin_users = user_names{};
    config.auth_excluded_paths = {"/-/healthy"};
    const access_rules rules{config, key, nullptr};
    const auto verdict_on = [&](std::string_view path) {
        return rules.decide({.path = path, .side = access_side::admin, .authorization = std::nullopt}).is;
    };
    CHECK(verdict_on("/-/healthy") == access_verdict::granted);
    for (const std::string_view path : {"/-/healthy/", "/-/healthy/../stats", "/-/HEALTHY", "/-/health", "//-/healthy"})
        CHECK(verdict_on(path) == access_verdict::unauthenticated);
}

TEST_CASE("digests depend on where a text ends and on the key") {
    const digest_key other;
    CHECK(same_digest(key.of({"a", "b"}), key.of({"a", "b"})));
    CHECK_FALSE(same_digest(key.of({"a", "b"}), key.of({"ab", ""})));
    CHECK_FALSE(same_digest(key.of({"a", "b"}), key.of({"a", "b", ""})));
    CHECK_FALSE(same_digest(key.of({"a"}), other.of({"a"})));
}

TEST_CASE("a user and a password are read, and so is a token") {
    CHECK(read("Basic YWxpY2U6c2VjcmV0") == "basic [alice] [secret]");
    CHECK(read("basic YWxpY2U6c2VjcmV0") == "basic [alice] [secret]");
    CHECK(read("BASIC   YWxpY2U6c2VjcmV0") == "basic [alice] [secret]");
    CHECK(read("Basic YTpiOmM=") == "basic [a] [b:c]");
    CHECK(read("Basic Og==") == "basic [] []");
    CHECK(read("Basic w6Q6/w==") == "basic [\xc3\xa4] [\xff]");
    CHECK(read("Bearer abc.DEF-123_~+/==") == "bearer [abc.DEF-123_~+/==]");
    CHECK(read("bearer  x") == "bearer [x]");
    CHECK(read("Bearer " + std::string(token_bytes_max, 't')) == "bearer [" + std::string(token_bytes_max, 't') + "]");
}

TEST_CASE("what is no credential is unreadable") {
    const auto value =
        GENERATE(as<std::string>{}, "", " ", "Basic", "Basic ", "Bearer", "Bearer ", "Bearer   ", "YWxpY2U6c2VjcmV0",
                 "Digest username=\"alice\"", "Negotiate YWxpY2U6c2VjcmV0", "Basic YWxpY2U",
                 "Basic YWxpY2U6c2VjcmV0=", "Basic YWxpY2U6c2VjcmV0, Basic YWxpY2U6c2VjcmV0", "Basic YWxp Y2U6c2VjcmV0",
                 "Basic YWxpY2Vz", "Basic ====", "Basic =", "Basic YTpiAGM=", "Basic YT-_", "Basic\tYWxpY2U6c2VjcmV0");
    CAPTURE(value);
    CHECK(read(value) == "unreadable");
}

TEST_CASE("what is longer than a credential may be is unreadable") {
    // 3 bytes of 'a:b' and then groups of "bbb".
    const auto with_password = [](std::size_t bytes) {
        std::string text = "Basic YTpi";
        for (std::size_t i = 1; i < bytes; i += 3) text += "YmJi";
        return text;
    };
    CHECK(read(with_password(127)).starts_with("basic [a] "));
    CHECK(read(with_password(130)) == "unreadable");
    CHECK(read(with_password(100'000)) == "unreadable");
    CHECK(read("Bearer " + std::string(token_bytes_max + 1, 't')) == "unreadable");
}

}  // namespace
}  // namespace seriesgate::testing::access_control_test
