// The client with a real cluster, and with nodes that send it in circles.
#include <deque>

#include "redis/client_scene.hpp"
#include "redis/scripted_redis.hpp"
#include "redis/server_process.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

constexpr int slot_count = 16384;

/// A node, and somebody who tells it what to do.
struct cluster_node {
    server_process server{{"--cluster-enabled", "yes", "--cluster-node-timeout", "500", "--repl-diskless-sync-delay",
                           "0", "--cluster-replica-validity-factor", "0"}};
    client_scene admin{server.at_socket()};

    void take_slots(int first, int last) {
        words command{"CLUSTER", "ADDSLOTS"};
        for (int slot = first; slot <= last; ++slot) command.push_back(std::to_string(slot));
        REQUIRE(admin.say(std::move(command)) == "OK");
    }
    void meet(const cluster_node& other) {
        REQUIRE(admin.say({"CLUSTER", "MEET", "127.0.0.1", std::to_string(other.server.port())}) == "OK");
    }
    std::string id() { return admin.say({"CLUSTER", "MYID"}); }
    [[nodiscard]] redis_config config() const {
        redis_config made = server.at_port();
        made.cluster = true;
        made.timeout = 500ms;
        return made;
    }
};

/// Three nodes with a third of the slots each: those of "a" are the third one's, of "b" the first one's.
struct three_nodes {
    std::deque<cluster_node> nodes{3};

    three_nodes() {
        // Each another one, as redis-cli gives them: while nodes sort out who has which, no replica may be elected.
        for (std::size_t i = 0; i < nodes.size(); ++i)
            REQUIRE(nodes[i].admin.say({"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)}) == "OK");
        nodes[0].take_slots(0, 5460);
        nodes[1].take_slots(5461, 10922);
        nodes[2].take_slots(10923, slot_count - 1);
        nodes[0].meet(nodes[1]);
        nodes[0].meet(nodes[2]);
        wait_until("cluster_state:ok");
        wait_until("cluster_known_nodes:3");
        wait_until("cluster_size:3");
    }
    void wait_until(std::string_view what) {
        for (cluster_node& each : nodes) {
            const std::string info = each.admin.say_until({"CLUSTER", "INFO"}, holds(what));
            REQUIRE(info.find(what) != std::string::npos);
        }
    }
};

std::string set_slot(cluster_node& at, const std::string& slot, const std::string& what, const std::string& id) {
    return at.admin.say({"CLUSTER", "SETSLOT", slot, what, id});
}

}  // namespace

TEST_CASE("what is told of a cluster and what is not have to fit") {
    SECTION("a server that is in none") {
        const server_process server;
        redis_config config = server.at_socket();
        config.cluster = true;
        client_scene with{config};
        CHECK(with.say({"GET", "key"}) == "other: CLUSTER SLOTS: ERR This instance has cluster support disabled");
    }
    SECTION("a cluster without its slots") {
        cluster_node node;
        client_scene with{node.config()};
        CHECK(with.say({"GET", "key"}) == "busy: CLUSTERDOWN Hash slot not served");
    }
    SECTION("a cluster that is taken for a server") {
        three_nodes cluster;
        redis_config config = cluster.nodes[0].config();
        config.cluster = false;
        client_scene with{config};
        CHECK(with.say({"GET", "{a}1"}).starts_with("other: MOVED 15495 127.0.0.1:"));
    }
}

TEST_CASE("MOVED is followed once, and when the keys move on") {
    three_nodes cluster;
    client_scene with{cluster.nodes[0].config()};
    const redis_script script{"return redis.call('INCR', KEYS[1])"};
    CHECK(shown(with.call_script(script, {"1", "{a}count"})) == "1");
    CHECK(shown(with.call_script(script, {"1", "{a}count"})) == "2");
    CHECK(with.say({"SET", "{a}1", "value"}) == "OK");
    CHECK(with.client.connection_epoch() == 2);
    CHECK(with.client.run_id() != "");

    std::vector<std::optional<redis_answer>> got(50);  // all of them are sent back by the node that was asked
    for (auto& each : got) with.begin({"INCR", "{b}count"}, each);
    for (auto& each : got) with.await(each);
    CHECK(with.say({"GET", "{b}count"}) == "50");
    CHECK(with.client.connection_epoch() == 3);
}

TEST_CASE("while a slot moves, what has moved is asked for where it is") {
    three_nodes cluster;
    cluster_node &from = cluster.nodes[2], &to = cluster.nodes[1];
    const std::string slot = from.admin.say({"CLUSTER", "KEYSLOT", "{a}"});
    client_scene with{from.config()};
    REQUIRE(with.say({"SET", "{a}stays", "old"}) == "OK");
    REQUIRE(set_slot(to, slot, "IMPORTING", from.id()) == "OK");
    REQUIRE(set_slot(from, slot, "MIGRATING", to.id()) == "OK");

    CHECK(with.say({"GET", "{a}stays"}) == "old");
    CHECK(with.say({"GET", "{a}new"}) == "nil");
    std::vector<std::optional<redis_answer>> got(50);
    for (auto& each : got) with.begin({"INCR", "{a}new"}, each);
    for (auto& each : got) with.await(each);
    CHECK(with.say({"GET", "{a}new"}) == "50");
    CHECK(shown(with.call_script(redis_script{"return redis.call('INCR', KEYS[1])"}, {"1", "{a}new"})) == "51");
    CHECK(with.say({"MGET", "{a}stays", "{a}new"}).starts_with("busy: TRYAGAIN "));
    CHECK(with.client.connection_epoch() == 1);
    CHECK(with.shared.metrics.connections.value() == 2);

    REQUIRE(from.admin.say({"MIGRATE", "127.0.0.1", std::to_string(to.server.port()), "{a}stays", "0", "5000"}) ==
            "OK");
    REQUIRE(set_slot(to, slot, "NODE", to.id()) == "OK");
    REQUIRE(set_slot(from, slot, "NODE", to.id()) == "OK");
    CHECK(with.say({"GET", "{a}stays"}) == "old");
    CHECK(with.say({"GET", "{a}new"}) == "51");
    CHECK(with.client.connection_epoch() == 2);
}

TEST_CASE("when a node dies its replica is found, though the URL names the dead one") {
    three_nodes cluster;
    cluster_node& master = cluster.nodes[2];
    cluster_node replica;
    replica.meet(cluster.nodes[0]);
    const std::string master_id = master.id();
    REQUIRE(replica.admin.say_until_answered({"CLUSTER", "REPLICATE", master_id}) == "OK");
    replica.admin.say_until({"INFO", "replication"}, holds("master_link_status:up"));
    cluster.wait_until("cluster_known_nodes:4");
    for (cluster_node& each : cluster.nodes)  // those vote for it
        each.admin.say_until({"CLUSTER", "NODES"}, holds("slave " + master_id));

    client_scene with{master.config()};
    with.limit = 500ms;
    REQUIRE(with.say({"SET", "{a}1", "value"}) == "OK");
    const std::string run_id = with.client.run_id();
    REQUIRE(with.say_until({"WAIT", "1", "5000"}, is_answered) == "1");
    master.server.kill();
    CHECK(with.say_until_answered({"GET", "{a}1"}) == "value");
    CHECK(with.say_until_answered({"SET", "{a}1", "another"}) == "OK");
    CHECK(with.client.run_id() != run_id);
}

TEST_CASE("nodes that send each other's clients in circles are told from nodes that know") {
    net::io_context io{1};
    scripted_redis one{io}, other{io};
    const auto moved_to = [](const scripted_redis& node) {
        return "-MOVED 1 :" + std::to_string(node.port()) + "\r\n";  // at the host that was asked
    };
    for (scripted_redis* each : {&one, &other}) {
        each->always["CLUSTER"] = "*0\r\n";
        net::co_spawn(io, serve_all(*each), net::detached);
    }
    redis_config config;
    config.host = "127.0.0.1";
    config.port = one.port();
    config.cluster = true;
    client_scene with{io, config};
    SECTION("by MOVED") {
        one.script.assign(10, moved_to(other));
        other.script.assign(10, moved_to(one));
        CHECK(with.say({"GET", "key"}) == "busy: the nodes of the cluster send us in circles");
        CHECK(one.commands.size() == 3);
        CHECK(other.commands.size() == 3);
    }
    SECTION("by ASK") {
        one.script.assign(10, "-ASK 1 :" + std::to_string(other.port()) + "\r\n");
        other.always["ASKING"] = "+OK\r\n";
        other.script.assign(10, moved_to(one));
        CHECK(with.say({"GET", "key"}) == "busy: the nodes of the cluster send us in circles");
        CHECK(with.shared.metrics.connections.value() <= 12);
    }
    SECTION("where there is nobody") {
        one.script = {moved_to(other)};
        other.acceptor.close();
        CHECK(with.say({"GET", "key"}).ends_with(": Connection refused"));
        one.script.assign(100, "+found\r\n");
        CHECK(with.say_until_answered({"GET", "key"}) == "found");
    }
}
