// Any bytes from an upstream, in pieces, to a real client: it comes to an answer or to an error in time, holds no more
// than it may, and keeps a connection only if it knows where the next answer begins.
#include <exception>

#include "fuzz/fuzz_target.hpp"
#include "fuzz/pieces.hpp"
#include "support/loopback.hpp"
#include "upstream/store_client.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;
using namespace std::chrono_literals;

namespace {

constexpr auto end_limit = 20s;
using outcome = result<upstream_answer, upstream_error>;

/// A client and the upstream that it knows, in one thread: ours.
struct scene {
    upstream_config settings;
    upstream_metrics metrics;
    std::optional<shared_store> store;
    net::io_context io{1};
    stream_acceptor acceptor = listen_on_loopback(io);
    std::optional<store_client> client;

    scene() {
        acceptor.non_blocking(true);
        settings.store.backends = {{.host = "127.0.0.1",
                                    .port = port_of(acceptor.local_endpoint()),
                                    .target = "/api/v1/write",
                                    .authority = "upstream"}};
        settings.timeout = 3ms;
        store.emplace(settings, 0, metrics, 1);
        client.emplace(io, *store);
    }
};

/// The upstream's end of whatever connection the client has opened last.
class upstream_end {
    stream_acceptor& acceptor_;
    stream_socket socket_;

  public:
    explicit upstream_end(stream_acceptor& acceptor) : acceptor_(acceptor), socket_(acceptor.get_executor()) {}

    void look_for_connection() {
        error_code error;
        stream_socket next{acceptor_.get_executor()};
        acceptor_.accept(next, error);
        if (error) return;
        next.non_blocking(true);
        socket_ = std::move(next);
    }
    void send(std::string_view piece) {
        error_code ignored;
        if (socket_.is_open()) socket_.write_some(net::buffer(piece), ignored);
    }
    void close() {
        error_code ignored;
        socket_.close(ignored);
    }
};

net::awaitable<void> ask(store_client& client, const http::fields& headers, std::optional<outcome>& got) {
    const upstream_request request{.headers = headers, .query = "", .body = "some body"};
    got = co_await client.post(request);
}

void require_sound(const outcome& got) {
    if (!got)
        return require(!got.error().text.empty() || got.error().reason == upstream_error_reason::timeout,
                       "an error without a word");
    require(got->status >= 200 && got->status <= 599, "an answer without status");
    require(got->body.size() <= response_bytes_max + 16384, "an answer's body is too large");
    require(std::distance(got->headers.begin(), got->headers.end()) <= 100, "an answer has too many headers");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static scene with;
    static const http::fields headers;
    pieces input{as_bytes(data, size)};
    const bool closes = !input.choice(0);
    const unsigned requests = input.choice(1) ? 2 : 1;  // the second may come on the connection of the first

    upstream_end peer{with.acceptor};
    for (unsigned request = 0; request < requests; ++request) {
        std::optional<outcome> got;
        bool ended = false;
        net::co_spawn(with.io, ask(*with.client, headers, got), [&ended](const std::exception_ptr& failure) {
            require(!failure, "a client throws");
            ended = true;
        });
        const auto limit = std::chrono::steady_clock::now() + end_limit;
        while (!ended) {
            with.io.restart();  // it stops whenever nothing is left to wait for
            if (input.empty()) with.io.run_one_for(1ms);
            with.io.poll();
            peer.look_for_connection();
            if (ended) break;
            if (!input.empty())
                peer.send(input.next());
            else if (closes)
                peer.close();
            require(std::chrono::steady_clock::now() < limit, "an exchange does not end");
        }
        require(got.has_value(), "an exchange ends without outcome");
        require_sound(*got);
        require(with.store->backends.front().connections.value() <= 1, "more connections than requests");
    }
    peer.close();  // whatever the client has kept is not quiet any more
    return 0;
}
