#include "upstream/backend_client.hpp"

#include <netinet/tcp.h>

#include <exception>

#include "net/tls_pair.hpp"
#include "support/catch.hpp"
#include "support/loopback.hpp"
#include "upstream/request.hpp"
#include "upstream/scripted_store.hpp"

namespace seriesgate::testing::exchange_test {
namespace {

/// A connection to a store, and what is made of one request on it.
struct scene {
    net::io_context io{1};
    loopback_pair pair = connect_loopback(io);
    timed_stream stream{std::move(pair.near)};
    stream_socket& store = pair.far;
    upstream_config settings = with_a_backend();
    http::fields headers;
    std::string body;
    upstream_message message;
    std::optional<attempt> made{};

    explicit scene(std::string text = "body") : body(std::move(text)), message(make()) {}

    static upstream_config with_a_backend() {
        upstream_config made;
        made.store.backends = {{.host = "127.0.0.1", .target = "/", .authority = "store.test"}};
        return made;
    }
    [[nodiscard]] upstream_message make() const {
        return make_message(settings, settings.store.backends.front(),
                            {.headers = headers, .tenant_header = "", .query = "", .body = body});
    }
    void begin(std::chrono::milliseconds limit = 10s) {
        net::co_spawn(io, exchange(stream, message, std::chrono::steady_clock::now() + limit),
                      [this](const std::exception_ptr& failure, attempt ended) {
                          REQUIRE_FALSE(failure);
                          made = std::move(ended);
                      });
        while (io.poll_one() != 0) continue;
    }
    attempt_end end() {
        while (!made && io.run_one_for(10s) != 0) continue;
        REQUIRE(made.has_value());
        return made->end;
    }
    void speak_tls() {
        stream.start_tls(std::make_unique<tls_session>(testing::made(asking()), "store.test"));
        timed_stream server{std::move(store), std::make_unique<tls_session>(testing::made(serving()))};
        int done = 0;
        for (timed_stream* each : {&stream, &server}) {
            each->expires_after(10s);
            each->async_handshake([&](error_code error) {
                REQUIRE_FALSE(error);
                ++done;
            });
        }
        while (done != 2 && io.run_one_for(10s) != 0) continue;
        store = std::move(server).release().socket;
    }
    /// Whatever it is.
    void read_what_has_come() {
        std::array<char, 4096> room;
        while (store.available() != 0) store.receive(net::buffer(room));
    }
    void read_all_of_it() {
        std::string text;
        net::read_until(store, net::dynamic_buffer(text), "\r\n\r\nbody");
    }
    void reset() {
        store.set_option(net::socket_base::linger{true, 0});
        store.close();
    }
};

TEST_CASE("a request that crosses the end of its connection has surely not been read") {
    scene with;
    with.store.close();  // the write succeeds, and its host answers with a reset
    with.begin();
    CHECK((with.end() == attempt_end::unread));
}

TEST_CASE("a request that could not all be written has not been read") {
    scene with{std::string(16 << 20, 'x')};
    with.begin();
    CHECK_FALSE(with.made.has_value());
    with.reset();
    CHECK((with.end() == attempt_end::unread));
}

TEST_CASE("a store that answers early, reads no more and does not close is heard") {
    scene with{std::string(16 << 20, 'x')};
    auto expected = attempt_end::timed_out;
    SECTION("it answers") {
        with.begin(200ms);
        with.store.send(net::buffer("HTTP/1.1 400 Bad Request\r\nContent-Length: 4\r\n\r\nwhy\n"s));
        expected = attempt_end::answered;
    }
    SECTION("success, which is not believed") {
        with.begin(200ms);
        with.store.send(net::buffer("HTTP/1.1 204 No Content\r\n\r\n"s));
        expected = attempt_end::invalid;
    }
    SECTION("an interim answer is none") {
        with.begin(200ms);
        with.store.send(net::buffer("HTTP/1.1 103 Early Hints\r\n\r\n"s));
    }
    SECTION("its end is no answer") {
        with.begin(200ms);
        with.store.shutdown_sending();
    }
    SECTION("it says nothing") {
        with.begin(200ms);
    }
    CHECK((with.end() == expected));
    CHECK(with.made->answer.status == (expected == attempt_end::answered ? 400u : 0u));
    CHECK_FALSE(with.made->reusable);
}

TEST_CASE("a request may have been read when the end comes behind it") {
    scene with;
    with.store.set_option(quick_confirming{false});
    with.begin();
    with.read_all_of_it();
    SECTION("an end") {
        with.store.close();
    }
    SECTION("a reset, for the confirmation of what was read may have been put off") {
        CHECK(with.stream.has_unconfirmed());
        with.reset();
    }
    CHECK((with.end() == attempt_end::unanswered));
}

TEST_CASE("after a reset nobody can tell whether a request has been read") {
    scene with;
    with.store.set_option(quick_confirming{false});
    with.begin();
    with.reset();  // it is there, and nobody has looked at it
    CHECK((with.end() == attempt_end::unanswered));
}

TEST_CASE("with TLS it is the same, and what TLS itself has said since tells nothing") {
    scene with;
    with.speak_tls();
    auto expected = attempt_end::unanswered;
    SECTION("it crosses an end") {
        with.store.close();
        with.begin();
        expected = attempt_end::unread;
    }
    SECTION("an end comes behind it") {
        with.begin();
        with.read_what_has_come();
        with.store.close();
    }
    SECTION("TLS fails, and says so to nobody") {
        with.begin();
        with.read_what_has_come();
        with.store.send(net::buffer("no record of TLS"));
        with.store.close();
    }
    CHECK((with.end() == expected));
}

}  // namespace
}  // namespace seriesgate::testing::exchange_test
