// The client with real sentinels and what they watch.
#include <csignal>

#include "redis/client_scene.hpp"
#include "redis/server_process.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

std::vector<std::string> replica_of(const server_process& master) {
    return {"--replicaof", "127.0.0.1", std::to_string(master.port())};
}

/// In its own words: one that decides alone.
server_wish sentinel_of(const server_process& master, const std::string& more) {
    const std::string file = "sentinel monitor gates 127.0.0.1 " + std::to_string(master.port()) +
                             " 1\n"
                             "sentinel down-after-milliseconds gates 500\n"
                             "sentinel failover-timeout gates 5000\n" +
                             more;
    return {.arguments = {"--sentinel"}, .file = file};
}

/// What a client is told of it.
redis_config asking(const server_process& sentinel, const std::string& master = "gates") {
    redis_config made;
    made.sentinel_master = master;
    made.sentinel_addresses = {{"127.0.0.1", sentinel.port()}};
    return made;
}

/// A master, a replica that is in step with it, and a sentinel that knows both.
struct watched_servers {
    server_process master{{"--repl-diskless-sync-delay", "0"}};  // not 5 s
    server_process replica{replica_of(master)};
    std::unique_ptr<server_process> sentinel;

    /// @param more lines of the sentinel's configuration
    explicit watched_servers(const std::string& more = {}) {
        client_scene at_replica{replica.at_socket()};
        at_replica.say_until({"INFO", "replication"}, holds("master_link_status:up"));
        sentinel = std::make_unique<server_process>(sentinel_of(master, more));
    }
    [[nodiscard]] redis_config config() const {
        redis_config made;
        made.sentinel_master = "gates";
        made.sentinel_addresses = {{"127.0.0.1", free_port()}, {"localhost", sentinel->port()}};  // one is not there
        made.timeout = 500ms;
        return made;
    }
    /// So that it can decide for the replica.
    void wait_for_sentinel() const {
        redis_config asked = sentinel->at_port();
        client_scene at_sentinel{asked};
        at_sentinel.say_until({"SENTINEL", "REPLICAS", "gates"},
                              [](const redis_answer& of) { return of && (*of)->elements == 1; });
    }
};

}  // namespace

TEST_CASE("sentinels say where the master is, and a failover is followed") {
    watched_servers servers;
    servers.wait_for_sentinel();
    client_scene with{servers.config()};
    with.limit = 500ms;
    REQUIRE(with.say({"SET", "key", "value"}) == "OK");
    const std::string run_id = with.client.run_id();
    SECTION("when the master dies") {
        client_scene at_replica{servers.replica.at_socket()};
        CHECK(at_replica.say_until({"GET", "key"}, [](const redis_answer& of) { return shown(of) == "value"; }) ==
              "value");
        servers.master.kill();
        CHECK(with.say_until_answered({"SET", "key", "another"}) == "OK");
        CHECK(at_replica.say_until_answered({"GET", "key"}) == "another");
    }
    SECTION("when the master is stopped, and comes back as a replica") {
        servers.master.tell(SIGSTOP);
        CHECK(with.say_until_answered({"SET", "key", "another"}) == "OK");
        servers.master.tell(SIGCONT);
        CHECK(with.say_until({"GET", "key"}, [](const redis_answer& of) { return shown(of) == "another"; }) ==
              "another");
    }
    CHECK(with.client.run_id() != run_id);
    CHECK(with.client.run_id().size() == 40);
}

TEST_CASE("a sentinel may want the server's password, and one that wants none gets none") {
    const bool wants_one = GENERATE(true, false);
    const server_process master{{"--requirepass", "secret"}};
    const server_process sentinel{sentinel_of(
        master, std::string{"sentinel auth-pass gates secret\n"}.append(wants_one ? "requirepass secret\n" : ""))};
    const scratch_directory folder;
    write_file(folder / "password", "secret");
    redis_config config = asking(sentinel);
    config.password_file = (folder / "password").string();
    client_scene with{config};
    CHECK(with.say({"SET", "key", "value"}) == "OK");
}

TEST_CASE("what sentinels cannot say is told") {
    const server_process master;
    const server_process sentinel{sentinel_of(master, "")};
    redis_config config = asking(sentinel, "others");
    const std::string at = "unreachable: the sentinel at 127.0.0.1: ";
    SECTION("a master that they do not know") {
        client_scene with{config};
        CHECK(with.say({"PING"}) == at + "it knows no master 'others'");
    }
    SECTION("without a sentinel") {
        config.sentinel_addresses = {{"127.0.0.1", free_port()}};
        client_scene with{config};
        CHECK(with.say({"PING"}) ==
              at + "connecting to 127.0.0.1:" + std::to_string(config.sentinel_addresses.front().port) +
                  ": Connection refused");
    }
    SECTION("from what is no sentinel") {
        config.sentinel_addresses = {{"127.0.0.1", master.port()}};
        client_scene with{config};
        CHECK(with.say({"PING"}).starts_with(at + "ERR unknown command"));
    }
}

TEST_CASE("a replica that a sentinel takes for the master is not taken for it") {
    const server_process replica{{"--replicaof", "127.0.0.1", std::to_string(free_port())}};
    const server_process sentinel{sentinel_of(replica, "")};
    client_scene with{asking(sentinel)};
    CHECK(with.say({"PING"}) == "read_only: ROLE: the server that the sentinels name is no master");
}
