#include "http/session.hpp"

#include <exception>

#include "base/log.hpp"
#include "http/queue_delay.hpp"
#include "net/event_loop.hpp"
#include "support/catch.hpp"
#include "support/loopback.hpp"

namespace seriesgate::testing::session_test {
namespace {

/// Answers with what it was sent.
net::awaitable<reply> echo(http_request& request) {
    reply made{.status = 200, .body = std::move(request.body)};
    made.headers.set("X-Query", request.query);
    co_return made;
}

net::awaitable<reply> tell(http_request&) {
    co_return text_reply(200, "told");
}

net::awaitable<reply> reject(http_request&) {
    co_return rejection(reject_reason::unsupported_media, 415, "no");
}

net::awaitable<reply> have_no_room(http_request&) {
    co_return rejection(reject_reason::overloaded, 503, "no room");
}

server_config some_bounds() {
    server_config made;
    made.body_bytes_max = 1000;
    made.decoded_bytes_max = 1000;
    made.inflight_bytes_max = 10'000;
    made.queue_delay_max = 1min;  // however busy the machine is
    return made;
}

/// One worker with routes of this test's, and connections to it.
struct scene {
    server_config settings = some_bounds();
    std::string tenant_header = "X-Scope-OrgID";
    http_metrics metrics;
    connection_registry connections{{.total = 4}, metrics};
    access_control access{{}};
    http_shared shared{.settings = settings, .tenant_header = tenant_header, .metrics = metrics, .access = access};
    worker thread{shared};
    service offered{.thread = thread,
                    .routes = {{"/write", "POST", route_kind::ingestion, echo},
                               {"/reject", "POST", route_kind::ingestion, reject},
                               {"/crowded", "POST", route_kind::ingestion, have_no_room},
                               {"/tell", "GET, HEAD", route_kind::admin, tell}}};

    scene() { log::set_up(log::format::logfmt, log::level::error); }

    /// The worker has had many requests for so long that it turns others away from now on, or is about to.
    void be_late(std::chrono::milliseconds by) {
        thread.delay.begin_round(queue_delay::clock::now() - by);
        for (std::size_t i = 0; i < queue_delay::requests_many; ++i)
            thread.delay.note_request(queue_delay::clock::now());
    }

    /// Serves a connection that waits for a request, at a gate that is ready. @return its sender's end
    stream_socket begin_serving() {
        shared.life.become_ready();
        auto pair = connect_loopback(thread.io);
        connection_lease lease = connections.admit(pair.far.native_handle(), net::ip::address_v4::loopback());
        spawn(thread.io.get_executor(), serve({std::move(pair.far), std::move(lease)}, offered), "failed");
        thread.io.poll();  // it waits for a request
        return std::move(pair.near);
    }

    void run_for(std::chrono::milliseconds time) {
        thread.io.restart();
        thread.io.run_for(time);
    }

    /// Runs until it is so, however long the machine stands still meanwhile.
    template <class Condition>
    void run_until(Condition is_so) {
        thread.io.restart();
        for (const auto limit = std::chrono::steady_clock::now() + 20s;
             !is_so() && std::chrono::steady_clock::now() < limit;)
            thread.io.run_one_for(1ms);
        thread.io.poll();
        REQUIRE(is_so());
    }

    /// @return what a connection that the gate has closed has to say
    static std::string rest_of(stream_socket& near) {
        std::string heard;
        error_code error;
        net::read(near, net::dynamic_buffer(heard), error);
        CHECK(error == net::error::eof);
        return heard;
    }

    /// Sends it on a new connection. @return what came back before the gate closed.
    /// @param ends whether the sender says that nothing more will come.
    std::string heard_after(std::string_view sent, bool ends = false) {
        return heard_after(sent, ends, connect_loopback(thread.io));
    }
    std::string heard_after(std::string_view sent, bool ends, loopback_pair&& pair) {
        net::io_context& io = thread.io;
        net::write(pair.near, net::buffer(sent));
        if (ends) pair.near.shutdown(stream_socket::shutdown_send);
        pair.near.non_blocking(true);
        connection_lease lease = connections.admit(pair.far.native_handle(), net::ip::address_v4::loopback());
        sender_connection accepted{std::move(pair.far), std::move(lease)};
        bool ended = false;
        net::co_spawn(io, serve(std::move(accepted), offered), [&ended](const std::exception_ptr& failure) {
            CHECK_FALSE(failure);
            ended = true;
        });
        io.restart();
        std::string heard;
        char room[4096];
        error_code error;
        for (const auto limit = std::chrono::steady_clock::now() + 20s; std::chrono::steady_clock::now() < limit;) {
            io.run_one_for(1ms);
            heard.append(room, pair.near.read_some(net::buffer(room), error));
            if (error && error != net::error::would_block) break;
        }
        CHECK(error == net::error::eof);
        pair.near.close();
        while (!ended) io.run_one_for(1ms);
        CHECK(metrics.inflight_bytes.value() == 0);
        CHECK(metrics.inflight_requests.value() == 0);
        CHECK(metrics.connections.value() == 0);
        return heard;
    }
};

/// A request that ends its connection.
std::string last(std::string_view line, std::string_view headers = "", std::string_view body = "") {
    std::string text{line};
    text.append(" HTTP/1.1\r\nHost: gate\r\nConnection: close\r\n").append(headers);
    if (!body.empty()) text.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n");
    return text.append("\r\n").append(body);
}

constexpr std::string_view ask_tell = "GET /tell HTTP/1.1\r\nHost: gate\r\n\r\n";

std::string body_of(const std::string& answer) {
    return answer.substr(answer.find("\r\n\r\n") + 4);
}

TEST_CASE("a request of ingestion is answered by its handler, and counted") {
    scene at;
    const std::string heard = at.heard_after(last("POST /write?a=1", "", "some bytes"));
    CHECK(heard.starts_with("HTTP/1.1 200 OK\r\n"));
    CHECK(heard.find("\r\nX-Query: a=1\r\n") != std::string::npos);
    CHECK(body_of(heard) == "some bytes");
    CHECK(at.metrics.requests[200].value() == 1);
    CHECK(at.metrics.request_duration.read().count == 1);
    CHECK(at.metrics.requests_rejected.total() == 0);
}

TEST_CASE("an admin request is answered, and counted nowhere") {
    scene at;
    CHECK(body_of(at.heard_after(last("GET /tell"))) == "told\n");
    const std::string head = at.heard_after(last("HEAD /tell"));
    CHECK(head.find("\r\nContent-Length: 5\r\n") != std::string::npos);
    CHECK(body_of(head).empty());
    CHECK(at.metrics.requests.total() == 0);
    CHECK(at.metrics.request_duration.read().count == 0);
}

TEST_CASE("the body of an admin request is not kept while its handler waits") {
    scene at;
    std::size_t kept = 1;
    std::int64_t counted = 1;
    at.offered.routes = {{"/-/reload", "POST", route_kind::admin, [&](http_request& request) -> net::awaitable<reply> {
                              kept = request.body.capacity();
                              counted = request.memory.use().held;
                              co_return text_reply(200, "told");
                          }}};
    CHECK(at.heard_after(last("POST /-/reload", "", std::string(900, 'x'))).starts_with("HTTP/1.1 200"));
    CHECK(kept < 100);
    CHECK(counted == 0);
}

TEST_CASE("who rejects returns why, and the session counts it once") {
    scene at;
    CHECK(at.heard_after(last("POST /reject", "", "x")).starts_with("HTTP/1.1 415 "));
    CHECK(at.metrics.requests[415].value() == 1);
    CHECK(at.metrics.requests_rejected[reject_reason::unsupported_media].value() == 1);
    CHECK(at.metrics.requests_rejected.total() == 1);
    CHECK(at.metrics.rejected_4xx.value() == 1);
}

TEST_CASE("what is rejected on a path of ingestion is among its requests, and what has no path is not") {
    scene at;
    CHECK(at.heard_after(last("PUT /write")).starts_with("HTTP/1.1 405 "));
    CHECK(at.metrics.requests[405].value() == 1);
    CHECK(at.heard_after(last("GET /write")).starts_with("HTTP/1.1 200 "));
    CHECK(at.heard_after(last("OPTIONS /write")).starts_with("HTTP/1.1 204 "));
    CHECK(at.heard_after(last("GET /other")).starts_with("HTTP/1.1 404 "));
    CHECK(at.heard_after("nonsense\r\n\r\n").starts_with("HTTP/1.1 400 "));
    CHECK(at.heard_after(last("PUT /tell")).starts_with("HTTP/1.1 405 "));
    CHECK(at.metrics.requests.total() == 1);
    CHECK(at.metrics.requests_rejected.total() == 4);
    CHECK(at.metrics.rejected_4xx.value() == 1);
}

TEST_CASE("an error that senders come again after is no rejection with 4xx") {
    scene at;
    CHECK(at.heard_after(last("POST /crowded", "", "x")).starts_with("HTTP/1.1 503 "));
    CHECK(at.metrics.requests_rejected[reject_reason::overloaded].value() == 1);
    CHECK(at.metrics.requests[503].value() == 1);
    CHECK(at.metrics.rejected_4xx.value() == 0);
}

TEST_CASE("HTTP that cannot be read has a reason of its own, whoever it is that sends it") {
    scene at;
    CHECK(at.heard_after("nonsense\r\n\r\n").starts_with("HTTP/1.1 400 "));
    CHECK(at.heard_after("POST /write HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n").starts_with("HTTP/1.1 400 "));
    std::string crowded = "POST /write HTTP/1.1\r\nHost: gate\r\n";
    for (int n = 0; n < 200; ++n) crowded += "X: y\r\n";
    CHECK(at.heard_after(crowded + "\r\n").starts_with("HTTP/1.1 431 "));
    CHECK(at.metrics.requests_rejected[reject_reason::invalid_http].value() == 3);
    CHECK(at.metrics.requests_rejected.total() == 3);
    CHECK(at.metrics.requests[400].value() == 1);  // whose path was known by then
    CHECK(at.metrics.rejected_4xx.value() == 1);
}

TEST_CASE("requests that come together are answered one after the other") {
    scene at;
    const std::string first =
        "POST /write HTTP/1.1\r\nHost: gate\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n0\r\n\r\n";
    const std::string heard = at.heard_after(first + last("POST /write", "", "two"));
    const auto one = heard.find("\r\n\r\none");
    const auto two = heard.find("\r\n\r\ntwo");
    CHECK(one != std::string::npos);
    CHECK(two != std::string::npos);
    CHECK(one < two);
    CHECK(at.metrics.requests[200].value() == 2);
}

TEST_CASE("between requests that come together others of their worker have a turn") {
    scene at;
    int asked = 0;
    int turns = 0;
    const auto count = [&](http_request&) -> net::awaitable<reply> {
        CHECK(turns == asked);
        ++asked;
        net::post(at.thread.io, [&turns] { ++turns; });
        co_return text_reply(200, "counted");
    };
    at.offered.routes = {{"/write", "POST", route_kind::ingestion, count}};
    const std::string one = "POST /write HTTP/1.1\r\nHost: gate\r\nContent-Length: 0\r\n\r\n";
    at.heard_after(one + one + one + last("POST /write"));
    CHECK(asked == 4);
}

TEST_CASE("a body over the bound is rejected, whether its length is announced or not") {
    scene at;
    const std::string body(1001, 'x');
    const std::string announced = at.heard_after(last("POST /write", "", body));
    CHECK(announced.starts_with("HTTP/1.1 400 "));
    CHECK(body_of(announced) == "body larger than server.maxRequestBytes: 1001 bytes, at most 1000 bytes\n");
    const std::string chunked = at.heard_after(
        "POST /write HTTP/1.1\r\nHost: gate\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n" + body +
        "\r\n0\r\n\r\n");
    CHECK(chunked.starts_with("HTTP/1.1 400 "));
    CHECK(body_of(chunked) == "body larger than server.maxRequestBytes: it goes on, at most 1000 bytes\n");
    CHECK(at.metrics.requests_rejected[reject_reason::too_large].value() == 2);
}

TEST_CASE("a worker that is late turns requests away, and keeps their connections") {
    scene at;
    at.be_late(10min);
    std::string first = "POST /write HTTP/1.1\r\nHost: gate\r\nContent-Length: 5\r\n\r\nfirst";
    const std::string heard = at.heard_after(first.append(ask_tell) + last("POST /write", "", "second"));
    CHECK(heard.starts_with("HTTP/1.1 503 "));
    CHECK(heard.find("\r\nRetry-After: 1\r\n") != std::string::npos);
    CHECK(heard.find("over server.maxQueueDelay (1m): requests have waited for 10m") != std::string::npos);
    CHECK(heard.find("told\nHTTP/1.1 503 ") != std::string::npos);
    CHECK(at.metrics.requests[503].value() == 2);
    CHECK(at.metrics.requests_rejected[reject_reason::queue_delay].value() == 2);
    CHECK(at.metrics.requests_rejected.total() == 2);
    CHECK(at.metrics.rejected_4xx.value() == 0);
}

TEST_CASE("who is turned away loses the connection if the end of the body is far or unknown, or it may not come") {
    scene at;
    at.be_late(10min);
    at.settings.body_bytes_max = at.settings.inflight_bytes_max = 10 << 20;
    const std::string headers = GENERATE("Transfer-Encoding: chunked\r\n", "Content-Length: 1048577\r\n",
                                         "Content-Length: 1\r\nExpect: 100-continue\r\n");
    const std::string heard = at.heard_after("POST /write HTTP/1.1\r\nHost: gate\r\n" + headers + "\r\n", true);
    CHECK(heard.starts_with("HTTP/1.1 503 "));
    CHECK(heard.find("\r\nConnection: close\r\n") != std::string::npos);
}

TEST_CASE("a sender that has gone while its request waited is not worked for") {
    scene at;
    at.be_late(20s);
    CHECK(at.heard_after(last("POST /write", "", "x"), true).empty());
    CHECK(at.metrics.requests_abandoned.value() == 1);
    CHECK(at.metrics.requests.total() == 0);
    CHECK(at.heard_after(last("POST /write", "", "x")).starts_with("HTTP/1.1 200 "));
    at.thread.delay.end_round(queue_delay::clock::now());
    at.thread.delay.begin_round(queue_delay::clock::now());
    CHECK(at.heard_after(last("POST /write", "", "x"), true).starts_with("HTTP/1.1 200 "));
    CHECK(at.metrics.requests_abandoned.value() == 1);
}

TEST_CASE("a header has a time and a size of its own") {
    scene at;
    at.settings.header_timeout = 50ms;
    at.settings.header_bytes_max = 1024;
    const std::string slow = at.heard_after("POST /write HTTP/1.1\r\n");
    CHECK(slow.starts_with("HTTP/1.1 503 "));
    CHECK(body_of(slow) == "request not complete within server.headerTimeout (50ms): its header is not complete\n");
    CHECK(at.metrics.requests_rejected[reject_reason::timeout].value() == 1);
    const std::string large = at.heard_after(last("POST /write", "X: " + std::string(1024, 'x') + "\r\n"));
    CHECK(large.starts_with("HTTP/1.1 431 "));
    CHECK(body_of(large) == "header larger than server.maxHeaderBytes (1KiB) or 100 lines\n");
}

TEST_CASE("a body has the time that its header has left") {
    scene at;
    at.settings.header_timeout = 20s;
    at.settings.read_timeout = 100ms;
    const std::string slow = at.heard_after("POST /write HTTP/1.1\r\nHost: gate\r\nContent-Length: 5\r\n\r\nx");
    CHECK(slow.starts_with("HTTP/1.1 503 "));
    CHECK(body_of(slow) == "request not complete within server.readTimeout (100ms): 1 of 5 bytes of its body came\n");
}

TEST_CASE("a connection is not kept while the gate drains") {
    scene at;
    at.shared.life.drain();
    const std::string heard = at.heard_after("POST /write HTTP/1.1\r\nHost: gate\r\nContent-Length: 1\r\n\r\nx");
    CHECK(heard.starts_with("HTTP/1.1 200 "));
    CHECK(heard.find("\r\nConnection: close\r\n") != std::string::npos);
}

TEST_CASE("who writes on before its last answer reads that answer, and not a reset") {
    scene at;
    auto pair = connect_loopback(at.thread.io);
    at.offered.routes = {{"/begin", "GET", route_kind::admin, [&](http_request&) -> net::awaitable<reply> {
                              at.shared.life.drain();
                              net::write(pair.near, net::buffer(std::string_view{"GET /begin"}));
                              co_return text_reply(200, "begun");
                          }}};
    const std::string begin = "GET /begin HTTP/1.1\r\nHost: gate\r\n\r\n";
    CHECK(at.heard_after(begin, false, std::move(pair)).ends_with("begun\n"));
}

TEST_CASE("where connections are passed on, one moves with the first request that is not a GET or HEAD") {
    scene at;
    std::string moved;
    at.offered.pass_on = [&moved](sender_connection from) { moved = from.read_ahead; };
    const std::string written = last("POST /write", "", "x");
    CHECK(at.heard_after(std::string{ask_tell} + written).ends_with("told\n"));
    CHECK(moved == written);
}

TEST_CASE("a takeover closes a connection that lies between two requests") {
    scene at;
    stream_socket near = at.begin_serving();
    net::write(near, net::buffer(ask_tell));
    at.run_until([&] { return near.available() != 0; });
    REQUIRE(at.connections.open_count() == 1);
    REQUIRE(at.shared.life.hand_over());
    const auto woken = std::chrono::steady_clock::now();
    at.thread.senders.wake_idle();
    at.run_until([&] { return at.connections.open_count() == 0; });
    CHECK(std::chrono::steady_clock::now() - woken >= 150ms);  // its next request may have been on its way
    const std::string heard = scene::rest_of(near);
    CHECK(heard.ends_with("told\n"));
    CHECK(at.metrics.connections_timed_out[connection_wait::request].value() == 0);
}

TEST_CASE("during a takeover a new connection may still send its first request, and is closed behind the answer") {
    scene at;
    stream_socket near = at.begin_serving();
    REQUIRE(at.shared.life.hand_over());
    at.thread.senders.wake_idle();
    at.thread.io.poll();
    REQUIRE(at.connections.open_count() == 1);
    net::write(near, net::buffer(ask_tell));
    at.run_until([&] { return at.connections.open_count() == 0; });
    const std::string heard = scene::rest_of(near);
    CHECK(heard.find("\r\nConnection: close\r\n") != std::string::npos);
    CHECK(heard.ends_with("told\n"));
}

TEST_CASE("who sends request after request does not keep a hand-over waiting") {
    scene at;
    at.offered.routes = {{"/begin", "GET", route_kind::admin, [&](http_request&) -> net::awaitable<reply> {
                              CHECK(at.shared.life.hand_over());
                              co_return text_reply(200, "begun");
                          }}};
    at.shared.life.become_ready();
    const std::string begin = "GET /begin HTTP/1.1\r\nHost: gate\r\n\r\n";
    const std::string heard = at.heard_after(begin + begin);
    CHECK(heard.ends_with("begun\n"));
    CHECK(heard.find("\r\nConnection: close\r\n") != std::string::npos);
}

TEST_CASE("a connection that is woken when nothing is handed over any more waits on") {
    scene at;
    stream_socket near = at.begin_serving();
    net::write(near, net::buffer(ask_tell));
    at.run_until([&] { return near.available() != 0; });
    REQUIRE(at.shared.life.hand_over());
    at.thread.senders.wake_idle();
    REQUIRE(at.shared.life.go_on());
    at.run_for(300ms);  // longer than the grace of who has asked
    CHECK(at.connections.open_count() == 1);
}

}  // namespace
}  // namespace seriesgate::testing::session_test
