#include "config/endpoint.hpp"

#include "config/config_error.hpp"
#include "config/wording.hpp"
#include <string>
#include <string_view>
#include "support/catch.hpp"

using namespace seriesgate;
using namespace std::chrono_literals;

namespace {

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

}  // namespace

TEST_CASE("the URL of a Redis says host, port, database and whether there is TLS, and leaves all else alone") {
    CHECK(read("redis://valkey") == at("valkey", 6379));
    CHECK(read("redis://valkey/") == at("valkey", 6379));
    CHECK(read("redis://valkey:7000/3") == at("valkey", 7000, 3));
    CHECK(read("redis://127.0.0.1/15") == at("127.0.0.1", 6379, 15));
    CHECK(read("redis://[::1]") == at("::1", 6379));
    CHECK(read("redis://[::1]:7000/2147483647") == at("::1", 7000, 2147483647));
    CHECK(read("rediss://store.test") == at("store.test", 6379, 0, true));
    CHECK(read("rediss://store.test:6380/1") == at("store.test", 6380, 1, true));
}

TEST_CASE("the URL of a unix socket says its path and database") {
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
