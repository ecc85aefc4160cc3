#include "upstream/exchange.hpp"

#include <array>
#include <boost/beast/core/error.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "net/http_fields.hpp"
#include "net/http_messages.hpp"
#include "net/tls_session.hpp"

namespace seriesgate {
namespace {

/// 103 Early Hints comes once or twice; no store sends more than a few.
constexpr unsigned interim_answers_max = 16;
constexpr unsigned switching_protocols = 101;

using answer_parser = http::response_parser<http::buffer_body>;

/// Reads the body, at most response_bytes_max of it; the parser is not done if there is more.
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

bool is_success(unsigned status) noexcept {
    return status >= 200 && status < 300;
}

/// Whether what came is at fault, and not the connection.
bool is_invalid(error_code error) {
    return error.category() == http::make_error_code(http::error::bad_method).category() &&
           error != http::error::end_of_stream && error != http::error::partial_message;
}

attempt_end end_of(error_code error, bool answer_began, bool has_arrived) {
    if (error == boost::beast::error::timeout) return attempt_end::timed_out;
    if (is_invalid(error)) return attempt_end::invalid;
    if (answer_began) return attempt_end::broken_amid;
    return has_arrived ? attempt_end::unanswered : attempt_end::unread;
}

bool is_end(error_code error) {
    return error == net::error::eof || error == http::error::end_of_stream || error == http::error::partial_message;
}

/// Whether the store may have read the whole request. It has not where we could not write all of it. The end that a
/// peer sends comes with the confirmation of all that it could have read before, so what is not confirmed then nobody
/// has read. A reset says nothing like that: a confirmation that was put off never comes.
/// Source: RFC 9293, section 3.10.7.4; RFC 1122, section 4.2.3.2 for confirmations put off.
bool may_have_arrived(error_code write_error, error_code read_error, const timed_stream& stream) {
    if (write_error) return false;
    const bool peer_ended = is_end(read_error) || read_error == tls_error::truncated;
    return !peer_ended || !stream.has_unconfirmed();
}

std::string text_of(error_code error) {
    if (error == boost::beast::error::timeout) return {};
    return is_end(error) ? "it closed the connection" : error.message();
}

attempt failed(error_code error, bool answer_began, bool has_arrived) {
    return {.end = end_of(error, answer_began, has_arrived),
            .why = text_of(error),
            .answer = {},
            .tls_failed = error == tls_error::failed};
}

attempt no_answer(std::string why) {
    return {.end = attempt_end::invalid, .why = std::move(why), .answer = {}};
}

}  // namespace

net::awaitable<attempt> exchange(timed_stream& stream, const upstream_message& message,
                                 std::chrono::steady_clock::time_point limit) {
    stream.expires_at(limit);
    const error_code write_error = co_await write_message(stream, message.http);

    // A store that refuses early may answer before it has read everything: look for an answer even so. That it had
    // taken what it has not read nobody could believe.
    flat_buffer buffer{read_buffer_bytes_max};
    bool answer_began = false;
    for (unsigned interim = 0; interim <= interim_answers_max; ++interim) {
        answer_parser parser;
        header_meter meter;
        const error_code error = co_await read_header(stream, buffer, parser, meter);
        answer_began = answer_began || meter.bytes() != 0;
        if (error) {
            co_return failed(error, answer_began, may_have_arrived(write_error, error, stream));
        }
        // What follows the header is not part of it: neither of what it says, nor of what goes on to the sender.
        upstream_answer answer{
            .status = parser.get().result_int(), .headers = std::move(parser.get().base()), .body = {}};
        const bool keeps_alive = parser.keep_alive();
        if (is_interim(answer.status)) continue;  // the answer is still to come
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

}  // namespace seriesgate
