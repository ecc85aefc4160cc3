#include "upstream/backend_client.hpp"

#include "support/catch.hpp"
#include "support/outcome.hpp"
#include "upstream/request.hpp"
#include "upstream/scripted_store.hpp"

namespace seriesgate::testing::backend_client_test {
namespace {

using outcome = result<upstream_answer, upstream_error>;
constexpr auto close_then = scripted_answer::then::close;
constexpr auto keep_then = scripted_answer::then::keep;
const std::string no_content = "HTTP/1.1 204 No Content\r\n\r\n";

upstream_config settings_for(const scripted_store& store, std::chrono::milliseconds timeout) {
    upstream_config made;
    made.store.backends = {store.as_backend("/api/v1/write")};
    made.timeout = timeout;
    return made;
}

/// A client and its store in one thread.
struct scene {
    net::io_context io{1};
    scripted_store store{io};
    upstream_config settings;
    upstream_metrics metrics;
    shared_store shared;
    backend_client client;
    http::fields headers;

    explicit scene(std::chrono::milliseconds timeout = 10s)
        : settings(settings_for(store, timeout)),
          shared(settings, 0, metrics, 1),
          client(io, shared, shared.backends.front()) {
        headers.set("X-Scope-OrgID", "team-a");
        net::co_spawn(io, serve_all(store), net::detached);
    }
    void will_answer(std::string text, scripted_answer::then then = scripted_answer::then::keep) {
        store.script.push_back({.text = std::move(text), .afterwards = then});
    }
    outcome post(bytes_view body = "some body") {
        const upstream_request request{
            .headers = headers, .tenant_header = "X-Scope-OrgID", .query = "a=1", .body = body};
        return send(client, request);
    }
    /// A request that leaves an open connection behind.
    void fill_pool() {
        will_answer(no_content);
        REQUIRE(post().has_value());
    }
    outcome send(backend_client& by, const upstream_request& request) {
        const upstream_message message = make_message(settings, settings.store.backends.front(), request);
        outcome got = result_of(io, by.send(message, limits()));
        io.poll();  // the store's side of what was closed
        return got;
    }
    [[nodiscard]] exchange_limits limits() const {
        return {.connect = 5s, .answer = std::chrono::steady_clock::now() + settings.timeout};
    }
    [[nodiscard]] std::int64_t connections() const { return shared.backends.front().connections.value(); }
    /// Whether an outcome is the reason.
    static bool failed(const outcome& got, upstream_error_reason reason) {
        return !got && got.error().reason == reason;
    }
};

TEST_CASE("an answer comes back as it is, and its connection serves the next request") {
    scene with;
    with.will_answer("HTTP/1.1 400 Bad Request\r\nX-Told: why\r\nContent-Length: 4\r\n\r\nwhy\n");
    const auto got = with.post();
    REQUIRE(got.has_value());
    CHECK(got->status == 400);
    CHECK(got->headers["X-Told"] == "why");
    CHECK(got->body == "why\n");
    with.will_answer(no_content);
    const auto next = with.post();
    REQUIRE(next.has_value());
    CHECK(next->status == 204);
    CHECK(with.store.accepted == 1);
    CHECK(with.connections() == 1);
    CHECK(with.metrics.upstream_sent_bytes.value() == 18);
}

TEST_CASE("a request goes out with the sender's headers, and what is the gate's") {
    scene with;
    with.fill_pool();
    REQUIRE(with.store.requests.size() == 1);
    const std::string& sent = with.store.requests.front();
    CHECK(sent.starts_with("POST /api/v1/write?a=1 HTTP/1.1\r\n"));
    for (const auto* line :
         {"Host: store.test\r\n", "X-Scope-OrgID: team-a\r\n", "Via: 1.1 seriesgate-", "Content-Length: 9\r\n"})
        CHECK(sent.find(line) != std::string::npos);
    CHECK(sent.ends_with("\r\n\r\nsome body"));
}

TEST_CASE("a pooled connection that was closed before all of the request had arrived is replaced once") {
    scene with;
    with.fill_pool();
    with.store.script.push_back({.text = "", .sent = scripted_answer::when::instead_of_body, .afterwards = close_then});
    const std::string body(16 << 20, 'x');
    SECTION("and the next one answers") {
        with.will_answer(no_content);
        CHECK(with.post(body).has_value());
    }
    SECTION("the next one does no better") {
        with.will_answer("", close_then);
        CHECK(with.failed(with.post(body), upstream_error_reason::connection_lost));
    }
    CHECK(with.store.accepted == 2);
    CHECK(with.metrics.upstream_sent_bytes.value() == 9 + 2 * body.size());
}

TEST_CASE("a pooled connection that is closed over a request is not replaced: the store may have stored it") {
    scene with;
    with.fill_pool();
    with.will_answer("", close_then);
    CHECK(with.failed(with.post(), upstream_error_reason::connection_lost));
    CHECK(with.store.accepted == 1);
    CHECK(with.store.requests.size() == 2);
}

TEST_CASE("a pooled connection that is reset over a request is not replaced, though nobody has confirmed the request") {
    scene with;
    with.store.puts_off_confirming = true;
    for (int i = 0; i < 2; ++i) with.fill_pool();
    with.will_answer("", scripted_answer::then::reset);
    CHECK(with.failed(with.post(), upstream_error_reason::connection_lost));
    CHECK(with.store.accepted == 1);
    CHECK(with.store.requests.size() == 3);
}

TEST_CASE("what breaks on a new connection, or amid an answer, is not sent again, and says how it broke") {
    using enum upstream_error_reason;
    const std::string amid = "amid its answer, it closed the connection";
    struct row {
        std::string answer;
        scripted_answer::then then;
        upstream_error_reason reason;
        std::string told;
        bool is_pooled = false;
    };
    for (const row& each :
         std::vector<row>{{"", close_then, connection_lost, "before its answer, it closed the connection"},
                          {"HTTP/1.1 204 No Con", close_then, connection_lost, amid},
                          {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", close_then, connection_lost, amid},
                          {"220 ready for mail\r\n\r\n", keep_then, invalid_answer, "bad version"},
                          {"HTTP/1.1 101 Switching Protocols\r\n\r\n", keep_then, invalid_answer, "status 101"},
                          {"HTTP", close_then, connection_lost, amid, true}}) {
        CAPTURE(each.answer);
        scene with;
        if (each.is_pooled) with.fill_pool();
        with.will_answer(each.answer, each.then);
        const auto got = with.post();
        REQUIRE(scene::failed(got, each.reason));
        CHECK(got.error().text == each.told);
        CHECK(with.store.accepted == 1);
        CHECK(with.connections() == 0);
    }
}

TEST_CASE("interim answers are waited out, a few of them") {
    const auto after = [](int interim_answers) {
        scene with;
        std::string several;
        for (int i = 0; i < interim_answers; ++i) several += "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n";
        with.will_answer(several + no_content);
        return with.post();
    };
    const auto got = after(16);
    REQUIRE(got.has_value());
    CHECK(got->status == 204);
    const auto too_many = after(17);
    REQUIRE(scene::failed(too_many, upstream_error_reason::invalid_answer));
    CHECK(too_many.error().text == "more than 16 interim answers");
}

TEST_CASE("a long body is cut, and its connection not used again") {
    scene with;
    with.will_answer("HTTP/1.1 500 x\r\nContent-Length: 1048576\r\n\r\n" + std::string(1 << 20, 'x'));
    const auto got = with.post();
    REQUIRE(got.has_value());
    CHECK(got->body.size() >= response_bytes_max);
    CHECK(got->body.size() < response_bytes_max + 16384);
    CHECK(with.connections() == 0);
}

TEST_CASE("a connection is not used again if it is not clear where the next answer begins") {
    // It says that it closes; the body ends with the connection; there is more than the answer.
    const auto [text, then] = GENERATE(
        table<std::string, scripted_answer::then>({{"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", keep_then},
                                                   {"HTTP/1.1 200 OK\r\n\r\nall of it", close_then},
                                                   {no_content + "more", keep_then}}));
    scene with;
    with.will_answer(text, then);
    CHECK(with.post().has_value());
    CHECK(with.connections() == 0);
}

TEST_CASE("an answer may come before the request has been read") {
    scene with;
    with.store.script.push_back({.text = "HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n",
                                 .sent = scripted_answer::when::before_body});
    const std::string body(4 << 20, 'x');
    const auto got = with.post(body);
    REQUIRE(got.has_value());
    CHECK(got->status == 413);
}

TEST_CASE("what breaks off before the whole request has gone may be refused, but not taken") {
    const std::string body(32 << 20, 'x');
    const auto answers = [&](const std::string& status) {
        scene with;
        with.store.script.push_back({.text = "HTTP/1.1 " + status + "\r\nContent-Length: 0\r\n\r\n",
                                     .sent = scripted_answer::when::instead_of_body,
                                     .afterwards = close_then});
        return with.post(body);
    };
    const auto refused = answers("413 Content Too Large");
    REQUIRE(refused.has_value());
    CHECK(refused->status == 413);
    const auto taken = answers("200 OK");
    REQUIRE(scene::failed(taken, upstream_error_reason::invalid_answer));
    CHECK(taken.error().text == "success before it had the whole request");
}

TEST_CASE("an upstream that is too slow is not asked again") {
    const std::string begun =
        GENERATE("", "HTTP/1.1 204 No Content\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf");
    const bool is_pooled = GENERATE(false, true);
    scene with;
    if (is_pooled) with.fill_pool();
    with.settings.timeout = 50ms;
    if (!begun.empty()) with.will_answer(begun);
    CHECK(with.failed(with.post(), upstream_error_reason::timeout));
    CHECK(with.store.accepted == 1);
    CHECK(with.connections() == 0);
}

TEST_CASE("an upstream that nobody listens for refuses the connection, and where is said") {
    scene with;
    const std::string where = endpoint_text(with.store.acceptor.local_endpoint());
    with.store.acceptor.close();
    const auto got = with.post();
    REQUIRE(scene::failed(got, upstream_error_reason::connection_refused));
    CHECK(got.error().text == "connecting to " + where + ": Connection refused");
    CHECK(with.connections() == 0);
    CHECK(with.metrics.upstream_sent_bytes.value() == 0);
}

TEST_CASE("a connection that is reset is lost") {
    scene with;
    with.will_answer("", scripted_answer::then::reset);
    const auto got = with.post();
    REQUIRE(scene::failed(got, upstream_error_reason::connection_lost));
    CHECK(got.error().text == "before its answer, Connection reset by peer");
}

TEST_CASE("a name that does not resolve is a reason of its own, and no address is no start") {
    scene with;
    with.settings.store.backends.front().host = "no-such-host.invalid";
    backend_client client{with.io, with.shared, with.shared.backends.front()};
    client.maintain();
    const auto got = with.send(client, {.headers = with.headers, .tenant_header = "", .query = "", .body = "x"});
    REQUIRE(scene::failed(got, upstream_error_reason::dns));
    CHECK(got.error().text == with.shared.backends.front().at.host +
                                  " does not resolve: " + with.shared.backends.front().resolving.fault());
    CHECK(with.shared.name_fault() == "no-such-host.invalid: " + with.shared.backends.front().resolving.fault());
    CHECK(got.error().untouched);
    CHECK_FALSE(client.started());
}

TEST_CASE("a name that nobody has looked up in time does not resolve") {
    scene with{50ms};
    with.settings.store.backends.front().host = "localhost";
    backend_client client{with.io, with.shared, with.shared.backends.front()};
    const auto got = with.send(client, {.headers = with.headers, .tenant_header = "", .query = "", .body = "x"});
    REQUIRE(scene::failed(got, upstream_error_reason::dns));
    CHECK(got.error().text == "localhost has not been looked up in time");
    CHECK(with.shared.name_fault().empty());
}

/// Every name has the same addresses; sockets are the system's.
class told_addresses final : public transport_network {
  public:
    explicit told_addresses(std::vector<stream_endpoint> all) : addresses(std::move(all)) { install(this); }
    told_addresses(const told_addresses&) = delete;
    told_addresses& operator=(const told_addresses&) = delete;
    ~told_addresses() override { install(nullptr); }

    std::vector<stream_endpoint> addresses;

    std::shared_ptr<transport> make_transport() override { return nullptr; }
    std::shared_ptr<transport_listener> listen(const transport::endpoint&) override { return nullptr; }
    void look_up(const std::string&, std::uint16_t, const net::any_io_executor& where, found done) override {
        net::post(where, [this, done = std::move(done)] { done({}, addresses); });
    }
};

TEST_CASE("an address without a route hides no other reason, whichever comes first") {
    scene with;
    const stream_endpoint closed = with.store.acceptor.local_endpoint();
    const stream_endpoint unroutable = tcp_endpoint(net::ip::make_address("224.0.0.1"), 9);  // no TCP to a group
    with.store.acceptor.close();
    with.settings.store.backends.front().host = "two.example";
    told_addresses names{{unroutable, closed}};
    const auto reason_of_two = [&] {
        backend_client client{with.io, with.shared, with.shared.backends.front()};
        client.maintain();
        const auto got = with.send(client, {.headers = with.headers, .tenant_header = "", .query = "", .body = "x"});
        return name_of(got.error().reason);
    };
    for (int turn = 0; turn < 2; ++turn) CHECK(reason_of_two() == "connection_refused");
    names.addresses = {unroutable};
    CHECK(reason_of_two() == "no_route");
}

TEST_CASE("a name is looked up before the first request goes") {
    scene with;
    with.settings.store.backends.front().host = "localhost";
    backend_client client{with.io, with.shared, with.shared.backends.front()};
    with.will_answer(no_content);
    CHECK_FALSE(client.started());
    client.maintain();
    CHECK(with.send(client, {.headers = with.headers, .tenant_header = "", .query = "", .body = "x"}).has_value());
    CHECK(client.started());
}

TEST_CASE("only what was not connected is certain not to have been worked on") {
    scene with;
    SECTION("connected") {
        with.will_answer("", close_then);
        with.will_answer("", close_then);
        CHECK_FALSE(with.post().error().untouched);
    }
    SECTION("not connected") {
        with.store.acceptor.close();
        CHECK(with.post().error().untouched);
    }
    CHECK(with.post().error().backend == "store.test");
}

TEST_CASE("a probe connects and leaves nothing behind") {
    scene with;
    const auto probe = [&] { return result_of(with.io, with.client.probe(std::chrono::steady_clock::now() + 5s)); };
    CHECK_FALSE(probe());
    CHECK(with.connections() == 0);
    with.store.acceptor.close();
    const auto fault = probe();
    REQUIRE(fault);
    CHECK(fault->reason == upstream_error_reason::connection_refused);
}

}  // namespace
}  // namespace seriesgate::testing::backend_client_test
