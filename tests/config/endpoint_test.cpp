#include "config/endpoint.hpp"

#include "config/config_error.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing::endpoint_test {
namespace {

listen_address listen_at(std::string_view text) {
    listen_address address{.host = "untouched", .port = 1};
    CAPTURE(text);
    CHECK(parse_listen(text, address) == "");
    return address;
}

std::string listen_error(std::string_view text) {
    listen_address address{.host = "untouched", .port = 1};
    auto error = parse_listen(text, address);
    CHECK(address == listen_address{.host = "untouched", .port = 1});
    return error;
}

upstream_config upstream_at(std::string_view text) {
    upstream_config upstream;
    upstream.timeout = 7s;
    upstream.protocol = upstream_protocol::v1;
    upstream.host_header = upstream_host::sender;
    CAPTURE(text);
    CHECK(parse_upstream_url(text, upstream) == "");
    CHECK(upstream.timeout == 7s);
    CHECK(upstream.protocol == upstream_protocol::v1);
    CHECK(upstream.host_header == upstream_host::sender);
    return upstream;
}

store_backend backend_at(std::string_view text) {
    const upstream_config upstream = upstream_at(text);
    REQUIRE(upstream.store.backends.size() == 1);
    CHECK(upstream.store.backends.front().url == text);
    CHECK_FALSE(upstream.discard);
    return upstream.store.backends.front();
}

std::string upstream_error(std::string_view text) {
    upstream_config upstream;
    auto error = parse_upstream_url(text, upstream);
    CHECK(upstream == upstream_config{});
    return error;
}

/// What no URL says, so that a test sees it stay.
redis_config before_the_url() {
    redis_config made;
    made.username = "gate";
    made.password_file = "/run/secret";
    made.cluster = true;
    made.timeout = 50ms;
    return made;
}

redis_config read(std::string_view text, redis_config made = before_the_url()) {
    CAPTURE(text);
    CHECK(parse_redis_url(text, made) == "");
    return made;
}

redis_config at(std::string host, std::uint16_t port, unsigned database = 0, bool tls = false) {
    redis_config expected = before_the_url();
    expected.host = std::move(host);
    expected.port = port;
    expected.database = database;
    expected.tls = tls;
    return expected;
}

redis_config at_socket(std::string path, unsigned database = 0) {
    redis_config expected = before_the_url();
    expected.unix_path = std::move(path);
    expected.database = database;
    return expected;
}

std::string url_error(std::string_view text) {
    redis_config untouched = before_the_url();
    untouched.host = "untouched";
    std::string wrong = parse_redis_url(text, untouched);
    redis_config expected = before_the_url();
    expected.host = "untouched";
    CHECK(untouched == expected);
    return wrong;
}

TEST_CASE("an address to listen on is host and port") {
    CHECK(listen_at("127.0.0.1:9201") == listen_address{.host = "127.0.0.1", .port = 9201});
    CHECK(listen_at("0.0.0.0:0") == listen_address{.host = "0.0.0.0", .port = 0});
    CHECK(listen_at(":65535") == listen_address{.host = "0.0.0.0", .port = 65535});
    CHECK(listen_at("localhost:80") == listen_address{.host = "localhost", .port = 80});
    CHECK(listen_at("[::]:9201") == listen_address{.host = "::", .port = 9201});
    CHECK(listen_at("[::1]:9201") == listen_address{.host = "::1", .port = 9201});
    CHECK(listen_at("[::ffff:1.2.3.4]:1") == listen_address{.host = "::ffff:1.2.3.4", .port = 1});
}

TEST_CASE("what is no address to listen on is told with examples") {
    const auto text =
        GENERATE(as<std::string>{}, "", "9201", "localhost", "localhost:", ":", "::1:9201", "::", "[::1]", "[::1:9201",
                 "[::g]:1", "1.2.3:80", "300.1.1.1:80", "user@host:80", "ho st:80", "a%20b:80", "http://0.0.0.0:9201",
                 "0.0.0.0:9201/", ":9201 ", "host:port", ":-1", "a!b:80");
    CHECK(listen_error(text) == "'" + text + "' is not an address such as 0.0.0.0:9201, :9201 or [::1]:9201");
}

TEST_CASE("a port out of range is told as such") {
    CHECK(listen_error(":65536") == "port '65536' is not between 0 and 65535");
    CHECK(listen_error("127.0.0.1:99999999999") == "port '99999999999' is not between 0 and 65535");
    CHECK(upstream_error("http://a:65536/w") == "port '65536' is not between 1 and 65535");
    CHECK(upstream_error("http://a:0/w") == "port '0' is not between 1 and 65535");
}

TEST_CASE("the path of a store's URL may have the tenant in it") {
    const store_backend backend = backend_at("http://vminsert:8480/insert/{account}/prometheus/api/v1/write?a=b");
    CHECK(backend.target == "/insert/{account}/prometheus/api/v1/write?a=b");
    CHECK(backend.authority == "vminsert:8480");
    CHECK(has_tenant_mark(backend));
    CHECK(has_tenant_mark(backend_at("https://a/{tenant}")));
    CHECK_FALSE(has_tenant_mark(backend_at("http://a/w?b=%7Btenant%7D")));
    const std::string wrong = "may have one {tenant} or {account}, in the place of a whole segment of its path";
    for (const auto* url : {"http://a/{tenant}/{tenant}", "http://a/{tenant}/{account}", "http://a/x{tenant}/w",
                            "http://a/w?t={tenant}", "http://a/{tenant}/w?t={tenant}"})
        CHECK(upstream_error(url) == wrong);
    for (const auto* url : {"http://{tenant}/w", "http://a/{other}/w", "http://a/{tenant/w"})
        CHECK(upstream_error(url).starts_with(url[7] == '{' ? "" : "is not a URL"));
}

TEST_CASE("a path to listen on is that of a unix socket") {
    CHECK(listen_at("unix:/run/gate.sock") == listen_address{.host = "", .port = 0, .unix_path = "/run/gate.sock"});
    const std::string longest = "/" + std::string(106, 'x');
    CHECK(listen_at("unix:" + longest).unix_path == longest);
    CHECK(listen_error("unix:" + longest + "x") == "the path of a unix socket has at most 107 bytes, this one has 108");
    const auto path = GENERATE(as<std::string>{}, "", "gate.sock", "./gate.sock", "/", "/run/", "//host/run/");
    CHECK(listen_error("unix:" + path) ==
          "'" + path + "' is not the path of a unix socket, such as unix:/run/seriesgate/gate.sock");
}

TEST_CASE("a path with a zero in it is none") {
    CHECK(listen_error("unix:/run/a\0b"s).find("is not the path of a unix socket") != std::string::npos);
}

TEST_CASE("the address for people may be none") {
    std::optional<listen_address> address{listen_address{}};
    CHECK(parse_admin_listen("", address) == "");
    CHECK_FALSE(address.has_value());
    CHECK(parse_admin_listen("9202", address) == "'9202' is not an address such as 0.0.0.0:9201, :9201 or [::1]:9201");
    CHECK_FALSE(address.has_value());
    CHECK(parse_admin_listen("localhost:9202", address) == "");
    CHECK(address == listen_address{.host = "localhost", .port = 9202});
    CHECK(parse_admin_listen("unix:/a", address) == "");
    CHECK(address == listen_address{.host = "", .port = 0, .unix_path = "/a"});
}

TEST_CASE("an upstream URL is taken apart") {
    const auto check = [](const std::string& url, const std::string& host, std::uint16_t port,
                          const std::string& authority, const std::string& target, bool tls = false) {
        CHECK(backend_at(url) == store_backend{url, tls, host, port, target, authority});
    };
    check("http://127.0.0.1:8428/api/v1/write", "127.0.0.1", 8428, "127.0.0.1:8428", "/api/v1/write");
    // Without a port that is 80, and the Host header has none either.
    check("http://victoria/api/v1/write", "victoria", 80, "victoria", "/api/v1/write");
    check("http://victoria:/api/v1/write", "victoria", 80, "victoria", "/api/v1/write");
    // With TLS it is 443.
    check("https://store/w", "store", 443, "store", "/w", true);
    check("HTTPS://store/w", "store", 443, "store", "/w", true);
    check("https://store:/w", "store", 443, "store", "/w", true);
    check("https://store:8443/w", "store", 8443, "store:8443", "/w", true);
    // The query and escapes stay.
    check("http://a/w?extra_label=team%3Da&b", "a", 80, "a", "/w?extra_label=team%3Da&b");
    check("http://a/insert/0:1/w", "a", 80, "a", "/insert/0:1/w");
    check("http://a/a%20b?", "a", 80, "a", "/a%20b?");
    check("http://a/", "a", 80, "a", "/");
    check("http://a//w/../x", "a", 80, "a", "//w/../x");
    // An IPv6 address, or any name that a resolver takes.
    check("http://[2001:db8::1]:8428/w", "2001:db8::1", 8428, "[2001:db8::1]:8428", "/w");
    const std::string name = "Victoria-1.my_ns.svc.cluster.local";
    check("HTTP://" + name + ":8428/w", name, 8428, name + ":8428", "/w");
    check("http://victoria.:8428/w", "victoria.", 8428, "victoria.:8428", "/w");
}

TEST_CASE("discard: is an upstream of its own") {
    const auto upstream = upstream_at("discard:");
    CHECK(upstream.discard);
    CHECK(upstream.store.backends.empty());
}

TEST_CASE("another upstream read over a former one leaves nothing of it") {
    upstream_config upstream;
    REQUIRE(parse_upstream_url("http://a:1/b", upstream).empty());
    REQUIRE(parse_upstream_url("discard:", upstream).empty());
    CHECK(upstream.store.backends.empty());
    REQUIRE(parse_upstream_url("http://c/d", upstream).empty());
    CHECK_FALSE(upstream.discard);
    CHECK(upstream.store.backends.at(0).authority == "c");
}

TEST_CASE("what is no upstream URL is told, each with its reason") {
    const std::string no_url = "is not a URL such as http://127.0.0.1:8428/api/v1/write";
    const std::string no_host = "has no valid host; expected a URL such as http://127.0.0.1:8428/api/v1/write";
    const std::string only = ", only http://, https:// and discard: are supported";
    for (const char* text : {"", "discard", "127.0.0.1:8428/api/v1/write", "/api/v1/write", "http://a b/w",
                             "http://a/w\r\nX: y", "http:/w", "http://a:8428api/v1/write"})
        CHECK(upstream_error(text) == no_url);
    for (const char* text :
         {"http:///w", "http://:8428/w", "http://300.1.1.1/w", "http://a%41/w", "http://[v1.x]/w", "https://:443/w"})
        CHECK(upstream_error(text) == no_host);
    CHECK(upstream_error("https://user@a/w") ==
          "must not hold credentials; basicAuth has them, or else the sender's Authorization header is passed on");
    CHECK(upstream_error("ftp://a/w") == "'ftp' is not supported" + only);
    CHECK(upstream_error("localhost:8428/w") == "'localhost' is not supported" + only);
    CHECK(upstream_error("discard:x") == "discard: takes nothing after the colon");
    CHECK(upstream_error("http://a:8428") == "has no path; expected a URL such as http://127.0.0.1:8428/api/v1/write");
    CHECK(upstream_error("http://a/w#x") == "must not hold a fragment ('#...')");
}

TEST_CASE("credentials in an upstream URL are refused and not repeated") {
    CHECK(upstream_error("http://user:secret@a/w") ==
          "must not hold credentials; basicAuth has them, or else the sender's Authorization header is passed on");
    CHECK(upstream_error("http://user:secret@a b/w").find("secret") == std::string::npos);
}

TEST_CASE("the URL of a Redis says where it is, its database and whether there is TLS, and leaves all else alone") {
    CHECK(read("redis://valkey") == at("valkey", 6379));
    CHECK(read("redis://valkey/") == at("valkey", 6379));
    CHECK(read("redis://valkey:7000/3") == at("valkey", 7000, 3));
    CHECK(read("redis://127.0.0.1/15") == at("127.0.0.1", 6379, 15));
    CHECK(read("redis://[::1]") == at("::1", 6379));
    CHECK(read("redis://[::1]:7000/2147483647") == at("::1", 7000, 2147483647));
    CHECK(read("rediss://store.test") == at("store.test", 6379, 0, true));
    CHECK(read("rediss://store.test:6380/1") == at("store.test", 6380, 1, true));
    CHECK(read("unix:///run/redis.sock") == at_socket("/run/redis.sock"));
    CHECK(read("unix:///run/redis.sock?db=7") == at_socket("/run/redis.sock", 7));
}

TEST_CASE("a second URL, such as a flag's, leaves nothing of the first") {
    CHECK(read("redis://valkey", read("unix:///run/redis.sock?db=7")) == at("valkey", 6379));
    CHECK(read("unix:///run/redis.sock", read("rediss://valkey:1/2")) == at_socket("/run/redis.sock"));
}

TEST_CASE("a URL with credentials is told who has them, and not repeated") {
    for (const auto* text : {"redis://:hunter2@valkey", "redis://gate:hunter2@valkey:6379/0", "rediss://gate@valkey",
                             "redis://valkey:6379/hunter2@x"})
        CHECK(url_error(text) == "must not hold credentials; username and passwordFile have them");
}

TEST_CASE("what is no URL of a Redis is told as such") {
    const std::string no_url =
        "is not a URL such as redis://127.0.0.1:6379/0; redis://, rediss:// and unix:// are supported";
    for (const auto* text :
         {"", "valkey", "valkey:6379", "http://valkey", "redis:valkey", "REDIS://valkey", "unix:/run/x"})
        CHECK(url_error(text) == no_url);
    const std::string no_host = "has no valid host; expected a URL such as redis://127.0.0.1:6379/0";
    for (const auto* text :
         {"redis://", "redis:///0", "redis://:6379", "redis://a b", "redis://::1", "redis://[::1", "redis://300.1.1.1",
          "redis://a%20b", "redis://unix:6379", "redis://a,b:6379", "redis://a:"})
        CHECK(url_error(text) == no_host);
    CHECK(url_error("redis://a:0") == "port '0' is not between 1 and 65535");
    CHECK(url_error("redis://a:65536") == "port '65536' is not between 1 and 65535");
    CHECK(url_error("redis://a/x") == "has 'x' where the number of a database is expected");
    CHECK(url_error("redis://a/-1") == "has '-1' where the number of a database is expected");
    CHECK(url_error("redis://a/2147483648") == "has '2147483648' where the number of a database is expected");
    CHECK(url_error("redis://a/0/1") == "has '0/1' where the number of a database is expected");
    CHECK(url_error("redis://a?db=1") == "must not hold a query ('?...')");
    CHECK(url_error("redis://a/0#x") == "must not hold a fragment ('#...')");
}

TEST_CASE("what is no unix socket is told as such") {
    const std::string no_path = "has no path of a unix socket, as unix:///run/redis.sock has";
    CHECK(url_error("unix://") == no_path);
    CHECK(url_error("unix://run/redis.sock") == no_path);
    CHECK(url_error("unix:///run/") == no_path);
    CHECK(url_error(std::string{"unix:///"}.append(107, 'x')) ==
          "the path of a unix socket has at most 107 bytes, this one has 108");
    const std::string other_argument = "takes db=0 behind the question mark, nothing else";
    CHECK(url_error("unix:///run/x?password=hunter2") == other_argument);
    CHECK(url_error("unix:///run/x?db") == other_argument);
    CHECK(url_error("unix:///run/x?db=") == "has '' where the number of a database is expected");
}

TEST_CASE("a sentinel is a host, and a port unless it is the usual one") {
    host_port read;
    CHECK(parse_sentinel_address("sentinel-0", read) == "");
    CHECK(read == host_port{"sentinel-0", 26379});
    CHECK(parse_sentinel_address("[::1]:5000", read) == "");
    CHECK(read == host_port{"::1", 5000});
    CHECK(parse_sentinel_address("[::1]", read) == "");
    CHECK(read == host_port{"::1", 26379});
    CHECK(parse_sentinel_address("a:0", read) == "port '0' is not between 1 and 65535");
    for (const std::string text : {"", ":26379", "redis://a", "a b", "unix:/run/x"}) {
        const std::string wrong = parse_sentinel_address(text, read);
        CHECK(wrong == in_quotes(text) + " is not an address such as sentinel-0:26379 or [::1]:26379");
    }
    CHECK(read == host_port{"::1", 26379});
}

}  // namespace
}  // namespace seriesgate::testing::endpoint_test
