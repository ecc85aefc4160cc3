#include "redis/redis_reply.hpp"

#include "redis/redis_connector.hpp"
#include "support/catch.hpp"

using namespace seriesgate;

namespace {

const host_port asked{"10.0.0.9", 7000};

redis_reply reply_of(std::string_view text) {
    reply_reader reader;
    reader.take(text);
    redis_reply reply = reader.next();
    REQUIRE(reply != nullptr);
    return reply;
}

std::optional<redirection> redirected(std::string_view line) {
    return redirection_in(error_of_reply(line), asked);
}

}  // namespace

TEST_CASE("a field of INFO is found by its whole name") {
    const std::string_view info = "# Server\r\nredis_version:7.0.15\r\nold_run_id:1\r\nrun_id:abc\r\nrun_id_2:x";
    CHECK(info_field(info, "run_id") == "abc");
    CHECK(info_field(info, "redis_version") == "7.0.15");
    CHECK(info_field(info, "run_id_2") == "x");
    CHECK(info_field(info, "run") == "");
    CHECK(info_field("", "run_id") == "");
}

TEST_CASE("a sentinel names a master, or knows none") {
    const auto master = [](std::string_view text) { return sentinel_master(*reply_of(text)); };
    CHECK(master("*2\r\n$9\r\n127.0.0.1\r\n$4\r\n6380\r\n") == host_port{"127.0.0.1", 6380});
    for (const auto* text : {"*-1\r\n", "*0\r\n", "*1\r\n$1\r\na\r\n", "*2\r\n$1\r\na\r\n$1\r\n0\r\n", "+OK\r\n",
                             "*2\r\n$1\r\na\r\n$5\r\n65536\r\n", "*2\r\n$0\r\n\r\n$1\r\n1\r\n", "*2\r\n:1\r\n:2\r\n"})
        CHECK(master(text) == std::nullopt);
}

TEST_CASE("a role is the first of ROLE's words") {
    CHECK(role_in(*reply_of("*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n")) == "master");
    CHECK(role_in(*reply_of("*1\r\n$5\r\nslave\r\n")) == "slave");
    CHECK(role_in(*reply_of("*0\r\n")) == "");
    CHECK(role_in(*reply_of("+master\r\n")) == "");
}

TEST_CASE("the nodes of a cluster are in CLUSTER SLOTS, each once") {
    const std::string a = "*3\r\n$1\r\na\r\n:1\r\n$2\r\nid\r\n", b = "*2\r\n$1\r\nb\r\n:2\r\n";
    const std::string nameless = "*2\r\n$0\r\n\r\n:3\r\n", null = "*2\r\n$-1\r\n:4\r\n",
                      unknown = "*2\r\n$1\r\n?\r\n:5\r\n";
    const auto nodes = [](const std::string& text) { return cluster_nodes(*reply_of(text), asked); };
    CHECK(nodes("*2\r\n*4\r\n:0\r\n:9\r\n" + a + b + "*5\r\n:10\r\n:20\r\n" + b + nameless + a) ==
          std::vector<host_port>{{"a", 1}, {"b", 2}, {"10.0.0.9", 3}});
    CHECK(nodes("*1\r\n*4\r\n:0\r\n:9\r\n" + null + unknown) == std::vector<host_port>{{"10.0.0.9", 4}});
    CHECK(nodes("*3\r\n*0\r\n:1\r\n*3\r\n:1\r\n:2\r\n*1\r\n+x\r\n").empty());
    CHECK(nodes("+OK\r\n").empty());
    std::string many = "*1\r\n*102\r\n:0\r\n:9\r\n";
    for (int i = 100; i < 200; ++i) many += "*2\r\n$1\r\nn\r\n:" + std::to_string(i) + "\r\n";
    CHECK(nodes(many).size() == cluster_nodes_max);
}

TEST_CASE("MOVED and ASK say where to go") {
    CHECK(redirected("MOVED 3999 127.0.0.1:6381") == redirection{false, {"127.0.0.1", 6381}});
    CHECK(redirected("ASK 3999 node.test:6381") == redirection{true, {"node.test", 6381}});
    CHECK(redirected("MOVED 3999 ::1:6381") == redirection{false, {"::1", 6381}});
    CHECK(redirected("MOVED 3999 :6381") == redirection{false, {"10.0.0.9", 6381}});
    for (const auto* line : {"MOVED", "MOVED 3999", "MOVED 1 a:0", "MOVED 1 a:65536", "MOVED 1 ?:6381", "MOVED 1 a:x",
                             "ERR MOVED 1 a:1", "ASKING 1 a:1", ""})
        CHECK(redirected(line) == std::nullopt);
}

TEST_CASE("without a cluster the next server is always the URL's") {
    redis_route route{{"url", 1}};
    for (int i = 0; i < 3; ++i, route.failed()) CHECK(route.next() == host_port{"url", 1});
}

TEST_CASE("in a cluster the next server is where our keys are, and then all known ones in turn") {
    redis_route route{{"url", 1}};
    route.learned({{"a", 1}, {"b", 2}});
    CHECK(route.next() == host_port{"url", 1});
    route.moved({"b", 2});
    CHECK(route.next() == host_port{"b", 2});
    CHECK(route.next() == host_port{"b", 2});
    for (const host_port& after : {host_port{"url", 1}, {"a", 1}, {"b", 2}, {"url", 1}}) {
        route.failed();
        CHECK(route.next() == after);
    }
    route.failed();
    route.failed();
    route.learned({});
    CHECK(route.next() == host_port{"url", 1});
}
