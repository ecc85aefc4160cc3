// The client with a server that does what a real one seldom does.
#include "redis/redis_client.hpp"

#include "redis/client_scene.hpp"
#include "redis/scripted_redis.hpp"
#include "support/files.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

redis_config config_for(const scripted_redis& server, std::chrono::milliseconds timeout,
                        const std::string& password_file = {}) {
    redis_config made;
    made.host = "127.0.0.1";
    made.port = server.port();
    made.timeout = timeout;
    made.password_file = password_file;
    if (!password_file.empty()) made.username = "gate";
    if (!password_file.empty()) made.database = 3;
    return made;
}

struct scene {
    net::io_context io{1};
    scripted_redis server{io};
    client_scene with;

    explicit scene(std::chrono::milliseconds timeout = 10s, const std::string& password_file = {})
        : with(io, config_for(server, timeout, password_file)) {
        net::co_spawn(io, serve_all(server), net::detached);
    }
    std::string call(words command, std::chrono::milliseconds limit = 10s) {
        return shown(with.call(std::move(command), limit));
    }
    [[nodiscard]] std::uint64_t failures() const { return with.shared.metrics.connect_failures.value(); }
};

}  // namespace

TEST_CASE("calls that are under way together are answered in their order, in whatever pieces replies come") {
    scene one;
    one.server.piece_bytes = GENERATE(0u, 1u, 7u);
    one.server.script = {"+first\r\n", bulk(std::string(3000, 'x')), ":3\r\n", "-ERR no fourth\r\n"};
    std::vector<std::optional<redis_answer>> got(4);
    for (std::size_t i = 0; i < got.size(); ++i) one.with.begin({"CALL", std::to_string(i)}, got[i]);
    CHECK(shown(one.with.await(got[3])) == "other: ERR no fourth");
    CHECK(shown(one.with.await(got[0])) == "first");
    CHECK(shown(one.with.await(got[1])) == std::string(3000, 'x'));
    CHECK(shown(one.with.await(got[2])) == "3");
    CHECK(one.server.accepted() == 1);
    CHECK(one.server.commands == std::vector<words>{{"CALL", "0"}, {"CALL", "1"}, {"CALL", "2"}, {"CALL", "3"}});
}

TEST_CASE("a call that is given up keeps its place: its late reply is nobody else's") {
    scene one;
    one.server.script = {"+set\r\n", ""};
    REQUIRE(one.call({"SET"}) == "set");
    CHECK(one.call({"SLOW"}, 20ms) == "timeout: no answer in time");
    one.server.script = {"+late\r\n+right\r\n", "+last\r\n"};
    CHECK(one.call({"NEXT"}) == "right");
    CHECK(one.call({"LAST"}) == "last");
    CHECK(one.server.accepted() == 1);
    one.with.client.maintain();
    CHECK(one.with.shared.metrics.late_replies.value() == 1);
}

TEST_CASE("what is no reply ends the connection, and another one is made") {
    const auto [said, text] = GENERATE(table<std::string, std::string>({
        {"HTTP/1.1 400 Bad Request\r\n\r\n",
         "protocol: not the answer of a Redis: Protocol error, got \"H\" as reply type byte"},
        {"+one\r\n+two\r\n", "one"},
        {"*262145\r\n", "protocol: not the answer of a Redis: a reply of too many elements"},
        {"$16777216\r\n" + std::string(reply_reader::bytes_max, 'x'),
         "protocol: not the answer of a Redis: a reply of more than 16 MiB"},
    }));
    scene one;
    one.server.script = {said};
    CHECK(one.call({"ANY"}) == text);
    one.with.run_until([&] { return !one.with.client.is_connected(); });
    one.server.script = {"+fine\r\n", "+fine\r\n"};
    CHECK(one.with.say_until_answered({"NEXT"}) == "fine");
    CHECK(one.server.accepted() == 2);
    CHECK(one.with.client.connection_epoch() == 2);
}

TEST_CASE("when the server closes a connection, calls on it are not repeated, and the next call has another one") {
    scene one;
    one.server.script = {"+good\r\n"};
    REQUIRE(one.call({"FIRST"}) == "good");
    SECTION("with calls under way") {
        std::optional<redis_answer> got;
        one.with.begin({"LOST"}, got);
        one.with.run_until([&] { return one.server.commands.size() == 2; });
        one.server.close_all();
        CHECK(shown(one.with.await(got)) == "unreachable: it closed the connection");
        one.server.script = {"+good\r\n"};
        CHECK(one.call({"NEXT"}) == "good");
        CHECK(one.server.commands == std::vector<words>{{"FIRST"}, {"LOST"}, {"NEXT"}});
    }
    SECTION("with none") {
        one.server.close_all();
        one.with.run_until([&] { return !one.with.client.is_connected(); });
        one.server.script = {"+good\r\n"};
        CHECK(one.call({"NEXT"}) == "good");
        CHECK(one.server.commands == std::vector<words>{{"FIRST"}, {"NEXT"}});
    }
    CHECK(one.server.accepted() == 2);
    CHECK(one.failures() == 0);
}

TEST_CASE("a server that says nothing costs a few timeouts; then calls fail at once until it is back") {
    scene one{50ms};
    one.server.script = {"+good\r\n"};
    REQUIRE(one.call({"FIRST"}) == "good");
    const auto start = testing::clock::now();
    unsigned timeouts = 0;
    std::string said;
    one.server.always.erase("INFO");  // it stays silent to new connections, too
    while ((said = one.call({"SILENCE"}, 50ms)) == "timeout: no answer in time") ++timeouts;
    CHECK(timeouts >= 1);
    CHECK(timeouts <= 4);  // each of 50 ms; the first is overdue 100 ms after its limit
    CHECK(testing::clock::now() - start < 5s);
    CHECK(said == "unreachable: no answer for a while, the connection was closed");
    CHECK_FALSE(one.with.client.is_connected());
    const auto sent = one.server.commands.size();
    for (int i = 0; i < 1000; ++i) REQUIRE(one.call({"UNSENT"}).starts_with("unreachable: "));
    one.with.run_until([&] { return one.failures() == 1; });  // after an attempt's limit, of 1 s
    CHECK(one.server.accepted() == 2);
    CHECK(one.with.shared.last_error() == "INFO: no answer in time");
    one.server.always.emplace("INFO", bulk("run_id:bbbb\r\n"));
    const auto asked_in_vain =
        static_cast<std::size_t>(std::ranges::count(one.server.commands, words{"INFO", "server"}));
    CHECK(one.server.commands.size() == sent + asked_in_vain);
    one.server.script.assign(100, "+back\r\n");
    CHECK(one.with.say_until_answered({"NEXT"}) == "back");
    CHECK(one.with.client.run_id() == "bbbb");
    CHECK(one.with.client.connection_epoch() == 2);
}

TEST_CASE("while nobody listens calls fail at once, and one attempt at a time looks whether that has changed") {
    net::io_context io{1};
    auto closed = std::make_unique<scripted_redis>(io);
    redis_config config = config_for(*closed, 200ms);
    const auto where = closed->acceptor.local_endpoint();
    closed.reset();
    client_scene with{io, config};
    const std::string refused = "unreachable: connecting to " + endpoint_text(where) + ": Connection refused";
    const auto start = testing::clock::now();
    CHECK(shown(with.call({"FIRST"})) == refused);
    CHECK(with.shared.metrics.connect_failures.value() == 1);
    for (int i = 0; i < 1000; ++i) REQUIRE(shown(with.call({"NEXT"})) == refused);
    with.run_until([&] { return with.shared.metrics.connect_failures.value() >= 4; });
    CHECK(testing::clock::now() - start >= 350ms);  // pauses of 50, 100 and 200 ms
    CHECK(with.client.connection_epoch() == 0);

    scripted_redis server{io};
    server.acceptor.close();
    server.acceptor = listen_at(io, where);
    net::co_spawn(io, serve_all(server), net::detached);
    server.script.assign(100, "+there\r\n");
    CHECK(with.say_until_answered({"AGAIN"}) == "there");
    CHECK(server.accepted() == 1);
}

TEST_CASE("calls that come before the first connection wait for it, each for its own limit") {
    scene one;
    const std::string info = one.server.always.extract("INFO").mapped();
    one.server.script = {""};
    std::optional<redis_answer> patient, impatient;
    one.with.begin({"PATIENT"}, patient);
    one.with.begin({"IMPATIENT"}, impatient, 30ms);
    CHECK(shown(one.with.await(impatient)) == "unreachable: there is no connection in time");
    CHECK_FALSE(patient.has_value());
    one.server.script = {"+yes\r\n"};
    const auto text = net::buffer(info);
    net::co_spawn(one.io, net::async_write(*one.server.sockets.at(0), text, net::use_awaitable), net::detached);
    CHECK(shown(one.with.await(patient)) == "yes");
    CHECK(one.server.commands == std::vector<words>{{"INFO", "server"}, {"PATIENT"}});
    CHECK(one.server.accepted() == 1);
}

TEST_CASE("calls and their bytes are bounded") {
    scene one;
    one.server.script = {"+good\r\n"};
    REQUIRE(one.call({"FIRST"}) == "good");
    const std::string too_many = "busy: too many calls are under way";
    SECTION("by number") {
        std::vector<std::optional<redis_answer>> got(redis_pipeline::calls_max);
        for (auto& each : got) one.with.begin({"WAITS"}, each);
        one.with.run_until([&] { return one.server.commands.size() == 1 + got.size(); });
        CHECK(one.call({"ONE MORE"}) == too_many);
        one.server.close_all();
        CHECK(shown(one.with.await(got.back())) == "unreachable: it closed the connection");
        for (const auto& each : got) REQUIRE(each.has_value());
    }
    SECTION("by size") {
        std::vector<std::optional<redis_answer>> got(2);
        for (auto& each : got) one.with.begin({"LARGE", std::string(redis_pipeline::unsent_bytes_max, 'x')}, each);
        CHECK(shown(one.with.await(got[1])) == too_many);
        CHECK_FALSE(got[0].has_value());
    }
}

TEST_CASE("a server that is no master, or has forgotten who we are, is left at once") {
    scene one;
    const std::string said = GENERATE(as<std::string>{}, "READONLY You can't write against a read only replica.",
                                      "NOAUTH Authentication required.");
    const std::string kind = said.starts_with("NOAUTH") ? "denied: " : "read_only: ";
    one.server.script = {"-" + said + "\r\n"};
    CHECK(one.call({"SET"}) == kind + said);
    CHECK(one.call({"UNSENT"}) == kind + said);
    CHECK(one.server.commands == std::vector<words>{{"SET"}});
    one.server.script.assign(100, "+good\r\n");
    CHECK(one.with.say_until_answered({"NEXT"}) == "good");
    CHECK(one.server.accepted() == 2);
}

TEST_CASE("who is at another server than the one that is named connects anew, once a second at most") {
    scene one;
    one.server.script.assign(100, "+good\r\n");
    CHECK(one.call({"GET"}) == "good");
    const auto now = monotonic_clock::now();
    one.with.client.follow_server("", now + 5s);
    one.with.client.follow_server("aaaa", now + 5s);
    one.with.client.follow_server("bbbb", now);
    CHECK(one.call({"GET"}) == "good");
    CHECK(one.server.accepted() == 1);
    one.with.client.follow_server("bbbb", now + 2s);
    CHECK(one.call({"GET"}) == "good");
    CHECK(one.server.accepted() == 2);
}

TEST_CASE("a script that the server does not know is sent whole, once; the last word says which server it is") {
    scene one;
    const redis_script script{"return 1"};
    CHECK(script.sha1 == "e0e1f9fabfc9d4800c877a703b823ac0578ff8db");
    one.server.script = {"-NOSCRIPT No matching script.\r\n", ":1\r\n", ":1\r\n", "-ERR other\r\n"};
    CHECK(shown(one.with.call_script(script, {"1", "key", "argument"})) == "1");
    CHECK(shown(one.with.call_script(script, {"0"})) == "1");
    CHECK(shown(one.with.call_script(script, {"0"})) == "other: ERR other");
    CHECK(one.server.commands == std::vector<words>{{"EVALSHA", script.sha1, "1", "key", "argument", "aaaa"},
                                                    {"EVAL", "return 1", "1", "key", "argument", "aaaa"},
                                                    {"EVALSHA", script.sha1, "0", "aaaa"},
                                                    {"EVALSHA", script.sha1, "0", "aaaa"}});
}

TEST_CASE("the password is read again when its file has changed, and what held last stays while the file is no good") {
    const scratch_directory folder;
    const auto file = folder / "password";
    write_file(file, "first\n");
    scene one{10s, file.string()};
    scripted_redis& server = one.server;
    server.always.erase("AUTH");
    std::string last_error;
    const auto connect_with = [&](const std::string& text) {
        write_file(file, text);
        one.with.let_files_settle();
        last_error = one.with.shared.last_error();
        server.close_all();
        server.commands.clear();
        server.script = {"+OK\r\n", "+OK\r\n", "+good\r\n"};
        one.with.run_until([&] { return !one.with.client.is_connected(); });
        CHECK(one.call({"GET"}) == "good");
        return server.commands;
    };
    const words select{"SELECT", "3"};
    CHECK(connect_with("first\n") == std::vector<words>{{"AUTH", "gate", "first"}, select, {"GET"}});
    CHECK(connect_with("second") == std::vector<words>{{"AUTH", "gate", "second"}, select, {"GET"}});
    CHECK(connect_with("") == std::vector<words>{{"AUTH", "gate", "second"}, select, {"GET"}});
    CHECK(last_error == "shared.passwordFile: " + file.string() + " is empty");
    one.with.shared.note({.text = "the server is away"});
    one.with.let_files_settle();
    CHECK(one.with.shared.last_error() == "the server is away");  // a fault of the file that stays hides no other
    CHECK(connect_with("two\nlines\n") == std::vector<words>{{"AUTH", "gate", "second"}, select, {"GET"}});
    CHECK(connect_with("third\r\n") == std::vector<words>{{"AUTH", "gate", "third"}, select, {"GET"}});
}

TEST_CASE("a server that repeats the password does not bring it into an error") {
    const scratch_directory folder;
    write_file(folder / "password", "hunter2hunter2");
    scene one{10s, (folder / "password").string()};
    const auto [said, expected] = GENERATE(table<std::string, std::string>({
        {"ERR unknown command 'AUTH', with args beginning with: 'hunter2hunter2'", "other: AUTH: ERR <secret>"},
        {"ERR unknown command 'AUTH', with args beginning with: 'hunter2hu", "other: AUTH: ERR <secret>"},
        {"WRONGPASS invalid username-password pair or user is disabled.",
         "denied: AUTH: WRONGPASS invalid username-password pair or user is disabled."},
        {"ERR AUTH <password> called without any password configured for the default user.",
         "denied: AUTH: ERR AUTH <password> called without any password configured for the default user."},
    }));
    one.server.always["AUTH"] = "-" + said + "\r\n";
    CHECK(one.call({"GET"}) == expected);
    CHECK(one.with.shared.last_error().find("hunter2") == std::string::npos);
}

TEST_CASE("a connection that nobody uses is asked whether it is still there") {
    scene one;
    one.server.script = {"+good\r\n"};
    REQUIRE(one.call({"FIRST"}) == "good");
    one.with.client.maintain(testing::clock::now() + 4s);
    one.with.client.maintain(testing::clock::now() + 6s);
    one.with.run_until([&] { return one.server.commands.size() == 2; });
    CHECK(one.server.commands.back() == words{"PING"});
    one.with.client.maintain(testing::clock::now() + 60s);  // no answer: 10 s of time limit, and twice that
    CHECK_FALSE(one.with.client.is_connected());
    one.server.script = {"+good\r\n"};
    CHECK(one.with.say_until_answered({"NEXT"}) == "good");
    CHECK(one.server.accepted() == 2);
    CHECK(one.with.shared.metrics.late_replies.value() == 0);
}
