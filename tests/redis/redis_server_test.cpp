// The client with a real server.
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <csignal>

#include "net/socket.hpp"
#include "redis/client_scene.hpp"
#include "redis/redis_connector.hpp"
#include "redis/server_process.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

/// Looks names up as it is told; sockets are the system's.
class told_names final : public transport_network {
  public:
    told_names() { install(this); }
    told_names(const told_names&) = delete;
    told_names& operator=(const told_names&) = delete;
    ~told_names() override { install(nullptr); }

    bool fails = false;
    bool throws = false;
    bool hangs = false;
    std::vector<std::function<void()>> held{};  ///< what is asked while it hangs

    std::shared_ptr<transport> make_transport() override { return nullptr; }
    std::shared_ptr<transport_listener> listen(const transport::endpoint&) override { return nullptr; }
    void look_up(const std::string&, std::uint16_t port, const net::any_io_executor& where, found done) override {
        if (throws) throw std::bad_alloc{};
        if (hangs) return held.push_back([=, this] { tell(port, where, done); });
        tell(port, where, std::move(done));
    }

  private:
    void tell(std::uint16_t port, const net::any_io_executor& where, found done) {
        net::post(where, [this, port, done = std::move(done)] {
            if (fails) return done(net::error::host_not_found, {});
            done({}, {net::ip::tcp::endpoint{net::ip::address_v4::loopback(), port}});
        });
    }
};

}  // namespace

TEST_CASE("commands of any bytes are answered over TCP and over a unix socket") {
    const server_process server;
    const bool over_tcp = GENERATE(true, false);
    client_scene with{over_tcp ? server.at_port() : server.at_socket()};
    const std::string value{"a\0\r\n\xff$3", 8};
    CHECK(with.say({"SET", "key", value}) == "OK");
    CHECK(with.say({"GET", "key"}) == value);
    CHECK(with.say({"GET", "absent"}) == "nil");
    CHECK(with.say({"STRLEN", "key"}) == "8");
    CHECK(with.say({"INCR", "key"}) == "other: ERR value is not an integer or out of range");
    CHECK(with.client.connection_epoch() == 1);
    CHECK(with.client.run_id().size() == 40);
    CHECK(with.shared.metrics.connections.value() == 1);
}

/// A connector that looks names up at told_names.
struct named_scene : client_scene {
    redis_connector connector{io, config, shared};

    using client_scene::client_scene;

    /// @return nothing if that throws.
    std::optional<bool> connects_to(std::string host, std::uint16_t port, std::chrono::milliseconds limit = 5s) {
        std::optional<bool> made;
        bool is_over = false;
        const auto connect = [&]() -> net::awaitable<void> {
            const host_port at{std::move(host), port};
            made = (co_await connector.connect_to(at, testing::clock::now() + limit)).has_value();
        };
        net::co_spawn(io, connect, [&](const std::exception_ptr&) { is_over = true; });
        io.restart();
        while (!is_over && io.run_one_for(20s) != 0) continue;
        REQUIRE(is_over);
        return made;
    }
};

TEST_CASE("an address that is known from before keeps the port it was looked up for") {
    const server_process server;
    told_names names;
    const redis_config to = server.at_port();
    named_scene with{to};
    const auto connects_to = [&](std::uint16_t port) { return with.connects_to("one.example", port).value(); };
    REQUIRE(connects_to(to.port));
    CHECK_FALSE(connects_to(1));  // nobody listens there
    names.fails = true;
    CHECK(connects_to(to.port));
    CHECK_FALSE(connects_to(1));
    CHECK_FALSE(connects_to(2));
}

TEST_CASE("a lookup that could not begin does not count as one under way") {
    const server_process server;
    told_names names;
    named_scene with{server.at_port()};
    names.throws = true;
    CHECK_FALSE(with.connects_to("one.example", with.config.port).has_value());
    names.throws = false;
    CHECK(with.connects_to("one.example", with.config.port) == true);
}

TEST_CASE("a name that hangs keeps no other from being looked up after it") {
    const server_process server;
    told_names names;
    named_scene with{server.at_port()};
    const std::uint16_t port = with.config.port;
    names.hangs = true;
    CHECK(with.connects_to("silent.example", port, 100ms) == false);
    CHECK(with.connects_to("one.example", port, 100ms) == false);
    for (const auto& answer : names.held) answer();
    with.io.restart();
    with.io.poll();
    CHECK(with.connects_to("silent-too.example", port, 100ms) == false);
    CHECK(with.connects_to("one.example", port) == true);
}

TEST_CASE("a known name is looked up, too, while another hangs") {
    const server_process server;
    told_names names;
    named_scene with{server.at_port()};
    const std::uint16_t port = with.config.port;
    REQUIRE(with.connects_to("one.example", port) == true);
    names.hangs = true;
    CHECK(with.connects_to("silent.example", port, 100ms) == false);
    CHECK(with.connects_to("one.example", port) == true);
    CHECK(with.connects_to("two.example", port, 100ms) == false);
    CHECK(names.held.size() == 3);
}

TEST_CASE("a script runs by its digest, also after the server has forgotten it") {
    const server_process server;
    client_scene with{server.at_socket()};
    const redis_script script{"return redis.call('INCRBY', KEYS[1], ARGV[1])"};
    CHECK(shown(with.call_script(script, {"1", "key", "5"})) == "5");
    CHECK(shown(with.call_script(script, {"1", "key", "5"})) == "10");
    CHECK(with.say({"SCRIPT", "FLUSH"}) == "OK");
    CHECK(shown(with.call_script(script, {"1", "key", "5"})) == "15");
    CHECK(with.say({"GET", "key"}) == "15");
}

TEST_CASE("a thousand calls under way are answered, each with its own reply") {
    const server_process server;
    client_scene with{server.at_port()};
    std::vector<std::optional<redis_answer>> got(1000);
    for (std::size_t i = 0; i < got.size(); ++i) with.begin({"ECHO", std::to_string(i)}, got[i]);
    with.await(got.back());
    for (std::size_t i = 0; i + 1 < got.size(); ++i) REQUIRE(shown(*got[i]) == std::to_string(i));
    CHECK(with.client.connection_epoch() == 1);
}

TEST_CASE("a database of its own is a database of its own") {
    const server_process server;
    redis_config third = server.at_port(), hundredth = server.at_port();
    third.database = 3;
    hundredth.database = 99;
    client_scene with{third}, other{server.at_port()}, beyond{hundredth};
    CHECK(with.say({"SET", "key", "value"}) == "OK");
    CHECK(other.say({"GET", "key"}) == "nil");
    CHECK(other.say({"SELECT", "3"}) == "OK");
    CHECK(other.say({"GET", "key"}) == "value");
    CHECK(beyond.say({"GET", "key"}) == "other: SELECT: ERR DB index is out of range");
}

TEST_CASE("a user's password may change while the gate runs") {
    const server_process server{{"--user", "gate", "on", ">first", "~*", "+@all", "-keys"}};
    const scratch_directory folder;
    write_file(folder / "password", "first\n");
    redis_config config = server.at_port();
    config.username = "gate";
    config.password_file = (folder / "password").string();
    client_scene with{config};
    client_scene admin{server.at_port()};
    CHECK(with.say({"SET", "key", "value"}) == "OK");
    CHECK(with.say({"KEYS", "*"}).starts_with("denied: NOPERM "));
    CHECK(with.say({"GET", "key"}) == "value");

    REQUIRE(admin.say({"ACL", "SETUSER", "gate", "resetpass", ">second"}) == "OK");
    CHECK(with.say({"GET", "key"}) == "value");  // it is known who we are
    REQUIRE(admin.say({"CLIENT", "KILL", "USER", "gate"}) == "1");
    const std::string refused = with.say_until(
        {"GET", "key"}, [](const redis_answer& of) { return !of && of.error().why == redis_error::kind::denied; });
    CHECK(refused == "denied: AUTH: WRONGPASS invalid username-password pair or user is disabled.");
    write_file(folder / "password", "second\n");
    with.let_files_settle();
    CHECK(with.say_until_answered({"GET", "key"}) == "value");
}

TEST_CASE("a password alone is the default user's") {
    const server_process server{{"--requirepass", "secret"}};
    const scratch_directory folder;
    write_file(folder / "password", "secret");
    redis_config config = server.at_socket();
    client_scene stranger{config};
    CHECK(stranger.say({"GET", "key"}) == "denied: INFO: NOAUTH Authentication required.");
    config.password_file = (folder / "password").string();
    client_scene with{config};
    CHECK(with.say({"GET", "key"}) == "nil");
}

TEST_CASE("what a password file that is no good is, is told at the start") {
    const scratch_directory folder;
    redis_config config;
    config.password_file = (folder / "password").string();
    const std::string key = "shared.passwordFile: ";
    const auto told = [&config]() -> std::string {
        try {
            const redis_shared made{config};
        } catch (const std::runtime_error& error) {
            return error.what();
        }
        return "";
    };
    CHECK(told() == key + "cannot read " + config.password_file + ": No such file or directory");
    write_file(config.password_file, "\n");
    CHECK(told() == key + config.password_file + " is empty");
    write_file(config.password_file, "a\nb\n");
    CHECK(told() == key + config.password_file + " holds more than one line, or control characters");
    write_file(config.password_file, "good\r\n");
    CHECK(told() == "");
}

TEST_CASE("a server that is restarted is another one, and one that was stopped is the same") {
    server_process server;
    redis_config config = server.at_port();
    config.timeout = 100ms;
    client_scene with{config};
    REQUIRE(with.say({"SET", "key", "value"}) == "OK");
    const std::string run_id = with.client.run_id();

    server.tell(SIGSTOP);
    const auto start = testing::clock::now();
    while (with.client.is_connected()) CHECK_FALSE(with.call({"GET", "key"}, 100ms).has_value());
    CHECK(testing::clock::now() - start < 5s);
    for (int i = 0; i < 100; ++i) REQUIRE(with.say({"GET", "key"}).starts_with("unreachable: "));
    server.tell(SIGCONT);
    CHECK(with.say_until_answered({"GET", "key"}) == "value");
    CHECK(with.client.run_id() == run_id);
    CHECK(with.client.connection_epoch() == 2);

    server.kill();
    CHECK(with.say_until({"GET", "key"}, std::not_fn(is_answered)).starts_with("unreachable: "));
    REQUIRE(server.start());
    CHECK(with.say_until_answered({"GET", "key"}) == "nil");
    CHECK(with.client.run_id() != run_id);
    CHECK(with.client.connection_epoch() == 3);
}

TEST_CASE("a server that loads its data is busy, on the same connection") {
    server_process server;
    {
        client_scene before{server.at_socket()};
        REQUIRE(before.say({"EVAL", "for i = 1, 2000 do redis.call('SET', i, i) end", "0"}) == "nil");
        REQUIRE(before.say({"SET", "key", "value"}) == "OK");
        REQUIRE(before.say({"SAVE"}) == "OK");
    }
    server.kill();
    REQUIRE(server.start({"--key-load-delay", "500", "--loading-process-events-interval-bytes", "1024"}));
    client_scene with{server.at_socket()};
    CHECK(with.say({"GET", "key"}).starts_with("busy: LOADING "));
    CHECK(with.say_until_answered({"GET", "key"}) == "value");
    CHECK(with.client.connection_epoch() == 1);
}

TEST_CASE("a replica without its master is read-only, or says that it is behind") {
    const std::string no_master = std::to_string(free_port());
    SECTION("read-only") {
        const server_process server{{"--replicaof", "127.0.0.1", no_master}};
        client_scene with{server.at_socket()};
        CHECK(with.say({"SET", "key", "value"}) == "read_only: READONLY You can't write against a read only replica.");
        CHECK(shown(with.call_script(redis_script{"return redis.call('SET', KEYS[1], '1')"}, {"1", "key"}))
                  .starts_with("read_only: "));
    }
    SECTION("behind") {
        const server_process server{{"--replicaof", "127.0.0.1", no_master, "--replica-serve-stale-data", "no"}};
        client_scene with{server.at_socket()};
        CHECK(with.say({"GET", "key"}).starts_with("busy: MASTERDOWN "));
    }
}

TEST_CASE("a server without memory says so, also to a script") {
    const server_process server{{"--maxmemory", "1"}};  // byte: no command's own memory decides
    client_scene with{server.at_socket()};
    const redis_script script{"return redis.call('SET', KEYS[1], ARGV[1])"};
    REQUIRE(with.say({"SET", "key", "value"}) ==
            "out_of_memory: OOM command not allowed when used memory > 'maxmemory'.");
    const redis_answer got = with.call_script(script, {"1", "other", "value"});
    REQUIRE(!got);
    CHECK(name_of(got.error().why) == "out_of_memory");
    CHECK(with.say({"STRLEN", "other"}) == "0");
    CHECK(with.client.connection_epoch() == 1);
}

TEST_CASE("while a script runs and runs the server is busy") {
    const server_process server{{"--lua-time-limit", "20"}};
    redis_config config = server.at_socket();
    config.timeout = 10s;
    client_scene endless{config}, with{config};
    REQUIRE(with.say({"PING"}) == "PONG");
    CHECK(shown(endless.call({"EVAL", "while true do end", "0"}, 100ms)) == "timeout: no answer in time");
    CHECK(with.say({"GET", "key"}).starts_with("busy: BUSY "));
    CHECK(with.say({"SCRIPT", "KILL"}) == "OK");
    CHECK(with.say_until_answered({"GET", "key"}) == "nil");
    CHECK(endless.say({"GET", "key"}) == "nil");  // not the script's late reply
}
