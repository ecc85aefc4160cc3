// Any bytes from a sender, in pieces, to a real session: it ends, whether the sender closes or not; all it took is
// given back; and whatever it answered is HTTP.
#include <exception>

#include "admin/pages.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "core/text.hpp"
#include "fuzz/fuzz_target.hpp"
#include "fuzz/pieces.hpp"
#include "http/session.hpp"
#include "ingest/warm_series.hpp"
#include "limit/limiter.hpp"
#include "process/gate_metrics.hpp"
#include "process/persistence.hpp"
#include "process/serving.hpp"
#include "support/loopback.hpp"
#include "support/running_loop.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;
using namespace std::chrono_literals;

namespace {

/// Far beyond what any run may take, on a machine that does much else.
constexpr auto end_limit = 20s;

config small_config() {
    config made;
    made.upstream.discard = true;
    made.server = {.body_bytes_max = 64 << 10,
                   .decoded_bytes_max = 256 << 10,
                   .inflight_bytes_max = 400 << 10,
                   .threads = 1,
                   .read_timeout = 3ms,
                   .idle_timeout = 3ms};
    return made;
}

/// A gate whose worker is our thread.
struct gate {
    config settings = small_config();
    series_limiter limiter{{.global = {.hourly = 3}, .false_positive_rate = 0.5}, wall_clock::now()};
    gate_metrics metrics;
    connection_registry connections{{.total = 4}, metrics.http};
    access_control access{settings.web};
    shared_cardinality cardinality{settings, hash_key::known_to_all(), limiter, wall_clock::now()};
    warm_series warm;
    serving_shared shared{settings, limiter, hash_key::known_to_all(), metrics, access, cardinality, warm, nullptr};
    serving_thread thread{shared, serving_thread::role::worker};
    const hash_key key = hash_key::known_to_all();
    const page_sources figures{.limiter = limiter,
                               .started = std::chrono::steady_clock::now(),
                               .write_metrics = [this](exposition& out) { write(out, metrics); },
                               .counts = [this] { return metrics.counts(); },
                               .catch_up = [this] { cardinality.sampler.catch_up(); },
                               .tracker = cardinality.tracker,
                               .refused = cardinality.refused,
                               .demand = cardinality.demand,
                               .key = key,
                               .ignored_labels = settings.ignore_labels,
                               .now = wall_clock::now};
    testing::running_loop paging{[this] { return make_pages(shared.admin.pages, figures); }};
    testing::running_loop answering{[this] { return make_pages(shared.admin.questions, figures); }};
    testing::running_loop reloading{[this] {
        return testing::serve_desk(shared.admin.reloads, [](const reload_queue::job&) {
            return reload_outcome{.ok = true, .text = "reloaded"};
        });
    }};

    gate() { log::set_up(log::format::logfmt, log::level::error); }
};

/// The sender's end: sends without waiting, and keeps what comes back.
class sender {
    stream_socket socket_;
    std::string heard_;
    bool open_ = true;

  public:
    explicit sender(stream_socket connected) : socket_(std::move(connected)) { socket_.non_blocking(true); }

    void send(std::string_view piece) {
        error_code ignored;  // the session may have closed already
        if (open_) socket_.write_some(net::buffer(piece), ignored);
    }
    void send_no_more() {
        error_code ignored;
        if (open_) socket_.shutdown(stream_socket::shutdown_send, ignored);
    }
    /// Reads what has come, and closes when the session has said its last word.
    void hear() {
        char room[16384];
        error_code error;
        while (open_) {
            const std::size_t bytes = socket_.read_some(net::buffer(room), error);
            heard_.append(room, bytes);
            if (error == net::error::would_block) return;
            if (!error) continue;
            open_ = false;
            socket_.close(error);
        }
    }
    [[nodiscard]] std::string_view heard() const { return heard_; }
};

std::string_view take_line(std::string_view& text) {
    const std::size_t end = text.find("\r\n");
    require(end != std::string_view::npos, "an answer breaks off");
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 2);
    return line;
}

/// Takes one answer off the front. @param to_head whether it may be one to HEAD, which has a length and no body
void take_answer(std::string_view& text, bool to_head) {
    const std::string_view start = take_line(text);
    require(start.starts_with("HTTP/1.1 ") || start.starts_with("HTTP/1.0 "), "an answer is no HTTP");
    const int status = std::atoi(std::string{start.substr(9, 3)}.c_str());
    require((status == 100 || status >= 200) && status <= 599, "an answer without status");
    std::optional<std::size_t> length;
    for (std::string_view line = take_line(text); !line.empty(); line = take_line(text)) {
        const std::size_t colon = line.find(':');
        require(colon != std::string_view::npos && colon != 0, "an answer's header line is none");
        if (!equal_ignoring_case(line.substr(0, colon), "Content-Length")) continue;
        require(!length, "two lengths in an answer");
        length = std::strtoull(std::string{line.substr(colon + 1)}.c_str(), nullptr, 10);
    }
    const bool has_body = status != 100 && status != 204 && status != 304;
    require(length ? has_body : !has_body || to_head, "an answer's length");
    if (!length || (to_head && (text.empty() || text.starts_with("HTTP/1.")))) return;
    require(text.size() >= *length, "an answer's body breaks off");
    text.remove_prefix(*length);
}

void require_given_back(const http_metrics& metrics) {
    require(metrics.inflight_bytes.value() == 0, "bytes in flight are left over");
    require(metrics.inflight_requests.value() == 0, "requests in flight are left over");
    require(metrics.connections.value() == 0, "connections are left over");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static gate tested;
    pieces input{as_bytes(data, size)};
    const bool to_head = input.all().find("HEAD") != std::string_view::npos;
    const bool closes = !input.choice(0);
    const bool at_once = input.choice(1);  // all pieces are there before the session reads the first

    auto& io = tested.thread.thread.io;
    auto pair = connect_loopback(io);
    sender peer{std::move(pair.near)};
    bool ended = false;
    const int descriptor = pair.far.native_handle();
    sender_connection accepted{std::move(pair.far),
                               tested.connections.admit(descriptor, net::ip::address_v4::loopback())};
    net::co_spawn(io, serve(std::move(accepted), tested.thread.offered), [&ended](const std::exception_ptr& failure) {
        require(!failure, "a session throws");
        ended = true;
    });
    io.restart();
    while (!input.empty()) {
        peer.send(input.next());
        if (at_once) continue;
        io.poll();
        peer.hear();
    }
    if (closes) peer.send_no_more();
    const auto limit = std::chrono::steady_clock::now() + end_limit;
    while (!ended) {
        io.run_one_for(1ms);
        peer.hear();
        require(std::chrono::steady_clock::now() < limit, "a session does not end");
    }
    peer.hear();

    require_given_back(tested.metrics.http);
    for (std::string_view heard = peer.heard(); !heard.empty();) take_answer(heard, to_head);
    return 0;
}
