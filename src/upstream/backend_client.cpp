#include "upstream/backend_client.hpp"

#include <array>
#include <boost/asio/ip/address.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <string_view>

#include "base/log.hpp"
#include "net/http_fields.hpp"
#include "net/http_messages.hpp"
#include "net/tls_session.hpp"

namespace seriesgate {
namespace {

/// Servers send 103 Early Hints once or twice; no store sends more.
constexpr unsigned interim_answers_max = 16;
constexpr unsigned switching_protocols = 101;

using answer_parser = http::response_parser<http::buffer_body>;

/// Reads the body up to response_bytes_max. The parser is not done if there is more.
net::awaitable<error_code> read_body(timed_stream& stream, flat_buffer& buffer, answer_parser& parser,
                                     std::string& body) {
    std::array<char, 8192> chunk;
    while (!parser.is_done() && body.size() < response_bytes_max) {
        auto& room = parser.get().body();
        room.data = chunk.data();
        room.size = chunk.size();
        const error_code error = co_await read_body_some(stream, buffer, parser);
        body.append(chunk.data(), chunk.size() - room.size);
        if (error && error != http::error::need_buffer) co_return error;
    }
    co_return error_code{};
}

bool is_interim(unsigned status) noexcept {
    return status >= 100 && status < 200 && status != switching_protocols;
}
bool is_final(unsigned status) noexcept {
    return status >= 200 && status <= 599;
}

attempt_end end_of(error_code error, bool answer_began, bool has_arrived) {
    if (error == boost::beast::error::timeout) return attempt_end::timed_out;
    if (is_invalid_http(error)) return attempt_end::invalid;
    if (answer_began) return attempt_end::broken_amid;
    return has_arrived ? attempt_end::unanswered : attempt_end::unread;
}

/// Whether the store may have read the whole request. Not if we could not write all of it. A peer's FIN acknowledges
/// all bytes that it could have read before, so it has not read what is still unacknowledged then. A reset proves
/// nothing, since a delayed acknowledgement never comes.
/// Source: RFC 9293, section 3.10.7.4; RFC 1122, section 4.2.3.2 for delayed acknowledgements.
bool may_have_arrived(error_code write_error, error_code read_error, const timed_stream& stream) {
    if (write_error) return false;
    const bool peer_ended = is_end_of_stream(read_error) || read_error == tls_error::truncated;
    return !peer_ended || !stream.has_unconfirmed();
}

attempt failed(error_code error, bool answer_began, bool has_arrived) {
    return {.end = end_of(error, answer_began, has_arrived),
            .why = error == boost::beast::error::timeout ? std::string{} : broken_text(error),
            .answer = {},
            .tls_failed = error == tls_error::failed};
}

attempt no_answer(std::string why) {
    return {.end = attempt_end::invalid, .why = std::move(why), .answer = {}};
}

using namespace std::chrono_literals;

/// Time to read the answer of a store that has answered, but does not read the rest of the request.
constexpr auto early_answer_limit = 100ms;
/// Stores close idle connections after one to two minutes; the gate closes them first.
constexpr auto idle_age_max = 45s;

upstream_error unanswered(upstream_error_reason reason, const attempt& made, const upstream_connection& on,
                          const shared_backend& backend) {
    if (made.tls_failed)  // with TLS 1.3 a store may reject our certificate only after the handshake
        return {.reason = upstream_error_reason::tls,
                .text = "TLS with " + endpoint_text(on.at) + ": " + on.stream.tls()->failure(),
                .backend = backend.name};
    const bool is_before = made.end == attempt_end::unanswered || made.end == attempt_end::unread;
    const std::string_view when = is_before                              ? "before its answer, "
                                  : made.end == attempt_end::broken_amid ? "amid its answer, "
                                                                         : "";
    return {.reason = reason, .text = std::string{when}.append(made.why), .backend = backend.name};
}

/// Deadline of the next of several connects, so that time is left for the others.
std::chrono::steady_clock::time_point part_of(std::chrono::steady_clock::time_point limit,
                                              std::chrono::nanoseconds connect_limit, std::ptrdiff_t attempts) {
    const auto now = monotonic_clock::now();
    return now + std::min<std::chrono::steady_clock::duration>(connect_limit, (limit - now) / attempts);
}

}  // namespace

net::awaitable<attempt> exchange(timed_stream& stream, const upstream_message& message,
                                 std::chrono::steady_clock::time_point limit) {
    stream.expires_at(limit);
    const error_code write_error = co_await write_message(stream, message.http);

    // Reads an answer even after a write error: a store that rejects early may answer before it has read everything. A
    // success is not believed then.
    const bool is_late = write_error == boost::beast::error::timeout;
    if (is_late && !stream.is_quiet()) stream.expires_after(early_answer_limit);
    flat_buffer buffer{read_buffer_bytes_max};
    bool answer_began = false;
    for (unsigned interim = 0; interim <= interim_answers_max; ++interim) {
        answer_parser parser;
        header_meter meter;
        const error_code error = co_await read_header(stream, buffer, parser, meter);
        answer_began = answer_began || meter.bytes() != 0;
        if (error) {
            co_return failed(is_late ? write_error : error, answer_began, may_have_arrived(write_error, error, stream));
        }
        // Trailer fields are not part of the header, and are not forwarded.
        upstream_answer answer{
            .status = parser.get().result_int(), .headers = std::move(parser.get().base()), .body = {}};
        const bool keeps_alive = parser.keep_alive();
        if (is_interim(answer.status)) continue;  // the final answer follows
        const std::string_view fault = coding_fault(answer.headers, parser.get().version());
        if (!fault.empty()) co_return no_answer(std::string{fault});
        if (!is_final(answer.status)) co_return no_answer("status " + std::to_string(answer.status));

        const error_code broken = co_await read_body(stream, buffer, parser, answer.body);
        if (broken) co_return failed(broken, true, true);
        if (write_error && is_success(answer.status)) co_return no_answer("success before it had the whole request");
        attempt made{.end = attempt_end::answered, .why = {}, .answer = std::move(answer)};
        made.reusable = parser.is_done() && keeps_alive && !write_error && buffer.size() == 0;
        co_return made;
    }
    co_return no_answer("more than " + std::to_string(interim_answers_max) + " interim answers");
}

backend_client::backend_client(net::io_context& io, shared_store& store, shared_backend& backend)
    : io_(io), store_(store), backend_(backend), resolver_(io), addresses_(make_addresses()) {}

address_list backend_client::make_addresses() {
    error_code no_address;
    const auto address = net::ip::make_address(backend_.at.host, no_address);
    if (!no_address) return address_list{address_list::endpoints{tcp_endpoint(address, backend_.at.port)}};
    return address_list{[this](name_resolver::answer take) {
        resolver_.look_up(backend_.at.host, backend_.at.port,
                          [this, take = std::move(take)](error_code error, std::vector<stream_endpoint> found) {
                              take(error, std::move(found));
                              log_lookup(error);
                          });
    }};
}

void backend_client::log_lookup(error_code error) {
    const auto news = backend_.resolving.looked_up(error);
    if (!news) return;
    if (news->resolves)
        return log::info(
            "the upstream's name resolves again",
            {{"upstream", backend_.at.host}, {"outage_seconds", std::chrono::duration<double>(news->lasted).count()}});
    log::warn(
        "the upstream's name does not resolve",
        {{"upstream", backend_.at.host}, {"addresses_kept", addresses_.known().size()}, {"err", error.message()}});
}

void backend_client::maintain() {
    addresses_.refresh();
    pool_.close_others(addresses_.known(), tls());
    pool_.close_idle(idle_age_max);
}

upstream_error backend_client::unresolved() const {
    const error_code failure = addresses_.failure();
    return {.reason = upstream_error_reason::dns,
            .text = backend_.at.host + (failure ? " does not resolve: " + failure.message()
                                                : std::string{" has not been looked up in time"}),
            .backend = backend_.name,
            .untouched = true};
}

/// Null for a backend without https://.
std::shared_ptr<const tls_context> backend_client::tls() const {
    return backend_.at.tls ? store_.access.tls() : nullptr;
}

net::awaitable<backend_client::fault> backend_client::connect_to(upstream_connection& connection,
                                                                 const stream_endpoint& to, time_limit limit) {
    timed_stream& stream = connection.stream;
    if (stream.has_tls())
        stream = timed_stream{stream_socket{io_}};  // TLS of the previous address
    else
        stream.close();
    stream.expires_at(limit);
    const session_maker make_session = [&] {
        connection.tls = tls();
        return connection.tls ? store_.access.make_session(connection.tls, backend_.at) : nullptr;
    };
    auto failed = co_await open_stream(stream, to, make_session);
    if (!failed) co_return std::nullopt;
    const bool is_of_tls = failed->in_handshake && failed->error != boost::beast::error::timeout;
    co_return upstream_error{.reason = is_of_tls ? upstream_error_reason::tls : reason_of_connect(failed->error),
                             .text = std::move(failed->text),
                             .backend = backend_.name,
                             .untouched = true};
}

/// @return the error; nothing if connected.
net::awaitable<backend_client::fault> backend_client::connect(upstream_connection& connection, time_limit limit) {
    // Polls: only the first requests after a start can come before the resolver's first answer.
    while (!addresses_.looked_up() && monotonic_clock::now() < limit) co_await sleep_for(10ms);
    const auto turn = backend_.next_address.fetch_add(1, std::memory_order_relaxed);
    // A copy, since a lookup may replace the addresses meanwhile.
    const auto endpoints = order_.of(addresses_.known(), turn, monotonic_clock::now());
    fault failed;
    for (auto left = static_cast<std::ptrdiff_t>(endpoints.size()); const stream_endpoint& endpoint : endpoints) {
        fault here = co_await connect_to(connection, endpoint, part_of(limit, store_.upstream.connect_timeout, left--));
        if (!here) {
            order_.connected(endpoint);
            connection.at = endpoint;
            co_return std::nullopt;
        }
        order_.failed(endpoint, monotonic_clock::now());
        // A host without IPv6 has no route to some addresses of a name, which says nothing about the store.
        if (!failed || here->reason != upstream_error_reason::no_route) failed = std::move(here);
    }
    if (!failed) failed = unresolved();
    co_return failed;
}

net::awaitable<std::optional<upstream_error>> backend_client::probe(time_limit limit) {
    upstream_connection connection{stream_socket{io_}, backend_.connections};
    co_return co_await connect(connection, limit);
}

/// Closes the connection instead if its address or TLS files are outdated by now.
void backend_client::keep(upstream_connection connection) {
    const auto& known = addresses_.known();
    const bool is_known = std::find(known.begin(), known.end(), connection.at) != known.end();
    if (is_known && connection.tls == tls()) pool_.give(std::move(connection));
}

net::awaitable<backend_client::outcome> backend_client::send(const upstream_message& message, exchange_limits limits) {
    for (std::optional<upstream_connection> connection = pool_.take();; connection.reset()) {
        const auto origin = connection ? connection_origin::pooled : connection_origin::opened;
        if (!connection) {
            connection.emplace(stream_socket{io_}, backend_.connections);
            const auto connect_by = std::min(limits.answer, monotonic_clock::now() + limits.connect);
            auto failed = co_await connect(*connection, connect_by);
            if (failed) co_return std::move(*failed);
        }
        store_.metrics.upstream_sent_bytes.add(message.http.body().size());
        attempt made = co_await exchange(connection->stream, message, limits.answer);
        if (made.end == attempt_end::answered) {
            if (made.reusable) keep(std::move(*connection));
            co_return std::move(made.answer);
        }
        if (const auto reason = reason_to_give_up(made.end, origin))
            co_return unanswered(*reason, made, *connection, backend_);
    }
}

}  // namespace seriesgate
