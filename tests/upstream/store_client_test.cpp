#include "upstream/store_client.hpp"

#include <deque>
#include <exception>

#include "support/catch.hpp"
#include "upstream/request.hpp"
#include "upstream/scripted_store.hpp"

namespace seriesgate::testing::store_client_test {
namespace {

using outcome = store_client::outcome;
constexpr auto close_then = scripted_answer::then::close;
const std::string no_content = "HTTP/1.1 204 No Content\r\n\r\n";

/// One worker and its store of several backends, in one thread.
struct scene {
    upstream_config settings;
    upstream_metrics metrics;
    std::optional<shared_store> shared;  // before the io_context: requests that have not ended go with that
    net::io_context io{1};
    std::deque<scripted_store> backends;
    std::optional<store_client> client;
    http::fields headers;

    explicit scene(std::size_t count, std::uint64_t connections_max = 100, std::chrono::milliseconds timeout = 10s) {
        for (std::size_t i = 0; i < count; ++i) {
            net::co_spawn(io, serve_all(backends.emplace_back(io)), net::detached);
            const std::string name = std::to_string(i);
            settings.store.backends.push_back(backends[i].as_backend("/" + name, "backend-" + name));
        }
        settings.timeout = timeout;
        settings.connections_max = connections_max;
        shared.emplace(settings, 0, metrics, 1);
        client.emplace(io, *shared);
    }
    void answers(std::size_t backend, int times, const std::string& text = no_content) {
        for (int i = 0; i < times; ++i) backends[backend].script.push_back({.text = text});
    }
    /// Begins a request.
    void begin(std::optional<outcome>& got) {
        const upstream_request request{.headers = headers, .tenant_header = "", .query = "", .body = "body"};
        net::co_spawn(io, client->post(request), [&got](const std::exception_ptr& failure, outcome ended) {
            REQUIRE_FALSE(failure);
            got = std::move(ended);
        });
    }
    template <class Condition>
    void run_until(Condition holds) {
        io.restart();
        const auto limit = std::chrono::steady_clock::now() + 20s;
        while (!holds() && std::chrono::steady_clock::now() < limit) io.run_one_for(10ms);
        REQUIRE(holds());
    }
    outcome post() {
        std::optional<outcome> got;
        begin(got);
        run_until([&] { return got.has_value(); });
        io.poll();
        return std::move(*got);
    }
    [[nodiscard]] std::size_t requests_at(std::size_t backend) const { return backends[backend].requests.size(); }
    [[nodiscard]] circuit_breaker& health(std::size_t backend) { return shared->backends[backend].health; }
};

TEST_CASE("requests go to equal backends in turn, each addressed as its URL says") {
    scene with{3};
    for (std::size_t i = 0; i < 3; ++i) with.answers(i, 2);
    for (int i = 0; i < 6; ++i) CHECK(with.post().has_value());
    for (std::size_t i = 0; i < 3; ++i) {
        REQUIRE(with.requests_at(i) == 2);
        const std::string name = std::to_string(i);
        CHECK(with.backends[i].requests.back().starts_with("POST /" + name + " HTTP/1.1\r\nHost: backend-" + name));
        CHECK(with.backends[i].accepted == 1);
        CHECK(with.shared->backends[i].requests.value() == 2);
        CHECK(with.shared->backends[i].in_flight.value() == 0);
        CHECK(with.shared->backends[i].connections.value() == 1);
    }
}

TEST_CASE("a backend that refuses connections costs nobody an answer, and is out") {
    scene with{3};
    with.backends[1].acceptor.close();
    with.answers(0, 3);
    with.answers(2, 3);
    for (int i = 0; i < 6; ++i) CHECK(with.post().has_value());
    CHECK(with.requests_at(0) + with.requests_at(2) == 6);
    CHECK(with.health(1).state() == backend_state::ejected);
    CHECK(with.shared->backends[1].requests.value() == 1);
    CHECK(with.shared->backends[1].errors[upstream_error_reason::connection_refused].value() == 1);
    CHECK(with.metrics.upstream_sent_bytes.value() == 6 * 4);
    CHECK(with.metrics.upstream_request_duration.read().count == 7);
}

TEST_CASE("what a backend may have worked on goes to no other") {
    scene with{2};
    with.backends[0].script.push_back({.text = "", .afterwards = close_then});
    with.answers(1, 1);
    const auto got = with.post();
    REQUIRE_FALSE(got.has_value());
    CHECK(got.error().reason == upstream_error_reason::connection_lost);
    CHECK(got.error().backend == "backend-0");
    CHECK(with.requests_at(1) == 0);
    CHECK(with.health(0).state() == backend_state::ejected);
    CHECK(with.post().has_value());
}

TEST_CASE("errors of a store are answers, and go to no other backend") {
    scene with{2};
    with.answers(0, 1, "HTTP/1.1 500 x\r\nContent-Length: 0\r\n\r\n");
    const auto got = with.post();
    REQUIRE(got.has_value());
    CHECK(got->status == 500);
    CHECK(with.requests_at(1) == 0);
    CHECK(with.health(0).state() == backend_state::healthy);
}

TEST_CASE("when no backend can be reached the error names them all, and they are tried again at once") {
    scene with{3};
    for (auto& each : with.backends) each.acceptor.close();
    const auto got = with.post();
    REQUIRE_FALSE(got.has_value());
    CHECK(got.error().reason == upstream_error_reason::connection_refused);
    CHECK(got.error().backend == "backend-2");
    CHECK(got.error().text.ends_with(
        ": Connection refused (before that backend-0: connection_refused, backend-1: connection_refused)"));
    CHECK_FALSE(with.post().has_value());
    for (const shared_backend& each : with.shared->backends) CHECK(each.requests.value() == 2);
}

TEST_CASE("an only backend is tried by every request, whatever has become of the one before") {
    scene with{1};
    with.backends[0].script.push_back({.text = "", .afterwards = close_then});
    with.answers(0, 1);
    CHECK_FALSE(with.post().has_value());
    CHECK(with.health(0).state() == backend_state::ejected);
    CHECK(with.post().has_value());
    CHECK(with.health(0).state() == backend_state::healthy);
}

TEST_CASE("a backend that accepts connections again gets one request, and then its share") {
    scene with{2};
    with.health(1).failed(std::chrono::steady_clock::now(), std::chrono::steady_clock::now());
    with.run_until([&] {
        with.client->maintain();
        return with.health(1).state() == backend_state::half_open;
    });
    std::optional<outcome> first;
    with.begin(first);  // held: there is no script
    with.run_until([&] { return with.requests_at(1) == 1; });
    with.answers(0, 3);
    for (int i = 0; i < 3; ++i) CHECK(with.post().has_value());
    CHECK(with.requests_at(0) == 3);
    CHECK(with.requests_at(1) == 1);
    CHECK(with.shared->backends[1].in_flight.value() == 1);
}

TEST_CASE("who finds all connections in use waits, and who came first goes first") {
    scene with{1, 2};
    std::deque<std::optional<outcome>> got(4);
    for (auto& each : got) with.begin(each);
    with.run_until([&] { return with.requests_at(0) == 2 && with.shared->waiting.value() == 2; });
    CHECK(with.shared->waits.value() == 2);
    CHECK(with.shared->backends[0].connections.value() == 2);
    CHECK(with.backends[0].accepted == 2);
}

TEST_CASE("who gives its connection back lets the next one in") {
    scene with{1, 1};
    with.answers(0, 3);
    std::deque<std::optional<outcome>> got(3);
    for (auto& each : got) with.begin(each);
    with.run_until([&] { return got.back().has_value(); });
    for (const auto& each : got) CHECK(each->has_value());
    CHECK(with.shared->waits.value() == 2);
    CHECK(with.shared->waiting.value() == 0);
    CHECK(with.backends[0].accepted == 1);
}

TEST_CASE("who waits for as long as a request may take is told that the store is busy") {
    scene with{1, 1, 200ms};
    std::deque<std::optional<outcome>> got(2);
    for (auto& each : got) with.begin(each);
    with.run_until([&] { return got[0].has_value() && got[1].has_value(); });
    REQUIRE_FALSE(got[0]->has_value());
    CHECK(got[0]->error().reason == upstream_error_reason::timeout);
    REQUIRE_FALSE(got[1]->has_value());
    const bool is_busy = got[1]->error().reason == upstream_error_reason::busy;
    CHECK((is_busy || got[1]->error().reason == upstream_error_reason::timeout));  // both limits pass together
    CHECK(with.metrics.upstream_request_duration.read().count ==
          (is_busy ? 1 : 2));  // the wait is no time of the store
}

TEST_CASE("a backend that is slow takes no connections from the others") {
    scene with{2, 4};
    std::deque<std::optional<outcome>> held(2);
    with.health(1).failed(std::chrono::steady_clock::now(), std::chrono::steady_clock::now());
    for (auto& each : held) with.begin(each);  // backend 0 says nothing
    with.run_until([&] { return with.requests_at(0) == 2; });
    with.health(1).answered(204, std::chrono::steady_clock::now() + 1ms, std::chrono::steady_clock::now() - 10s);
    with.answers(1, 20);
    for (int i = 0; i < 20; ++i) CHECK(with.post().has_value());
    CHECK(with.requests_at(0) == 2);
    CHECK(with.requests_at(1) == 20);
    CHECK(with.shared->waits.value() == 0);
}

TEST_CASE("nothing but the body is needed of whoever asks") {
    scene with{2};
    with.backends[0].acceptor.close();
    with.answers(1, 1);
    std::optional<outcome> got;
    std::optional<net::awaitable<outcome>> asked;
    {
        http::fields headers;
        headers.set("X-Long", std::string(1000, 'x'));
        const auto body = std::make_shared<const std::string>(1000, 'b');
        const std::string query(1000, 'q');
        const upstream_request request{
            .headers = headers, .tenant_header = "X-Team", .query = query, .body = *body, .body_owner = body};
        asked = with.client->post(request);
    }
    net::co_spawn(with.io, std::move(*asked),
                  [&got](const std::exception_ptr&, outcome ended) { got = std::move(ended); });
    with.run_until([&] { return got.has_value(); });
    REQUIRE(got->has_value());
    const std::string& sent = with.backends[1].requests.front();
    CHECK(sent.starts_with("POST /1?" + std::string(1000, 'q') + " HTTP/1.1\r\nHost: backend-1\r\n"));
    CHECK(sent.find(std::string(1000, 'x')) != std::string::npos);
    CHECK(sent.ends_with(std::string(1000, 'b')));
}

TEST_CASE("connections are shared out among workers and backends, at least one each") {
    scene with{3, 100};
    CHECK(shared_store(with.settings, 0, with.metrics, 4).connections_each_max == 8);
    CHECK(shared_store(with.settings, 0, with.metrics, 64).connections_each_max == 1);
    with.settings.replicas.push_back({.store = with.settings.store});
    CHECK(shared_store(with.settings, 0, with.metrics, 4).connections_each_max == 4);
}

TEST_CASE("stores and backends of one name are told apart") {
    scene with{2};
    with.settings.store.backends[1].authority = "backend-0";
    with.settings.replicas.push_back({.store = with.settings.store});
    const shared_store first{with.settings, 0, with.metrics, 1};
    const shared_store second{with.settings, 1, with.metrics, 1};
    CHECK(first.name == "backend-0");
    CHECK(second.name == "backend-0#2");
    CHECK(first.backends[0].name == "backend-0");
    CHECK(first.backends[1].name == "backend-0#2");
}

}  // namespace
}  // namespace seriesgate::testing::store_client_test
