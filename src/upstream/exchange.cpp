#include "upstream/exchange.hpp"

#include <array>
#include <boost/beast/core/error.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/write.hpp>
#include <string>
#include <utility>

#include "net/message_reading.hpp"

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

attempt_end end_of(error_code error, bool answer_began) {
    if (error == boost::beast::error::timeout) return attempt_end::timed_out;
    return answer_began ? attempt_end::broken_amid : attempt_end::unanswered;
}

}  // namespace

net::awaitable<attempt> exchange(timed_stream& stream, const upstream_message& message,
                                 std::chrono::steady_clock::time_point limit) {
    attempt made;
    stream.expires_at(limit);
    auto [write_error, written] = co_await http::async_write(stream, message.http, no_throw);
    static_cast<void>(written);

    // A store that refuses early may answer before it has read everything: look for an answer even so.
    flat_buffer buffer{read_buffer_bytes_max};
    bool answer_began = false;
    for (unsigned interim = 0; interim <= interim_answers_max; ++interim) {
        answer_parser parser;
        header_meter meter;
        const error_code failed = co_await read_header(stream, buffer, parser, meter);
        answer_began = answer_began || meter.bytes() != 0;
        made.end = end_of(failed, answer_began);
        if (failed) co_return made;
        // What follows the header is not part of it: neither of what it says, nor of what goes on to the sender.
        upstream_answer answer{
            .status = parser.get().result_int(), .headers = std::move(parser.get().base()), .body = {}};
        const bool keeps_alive = parser.keep_alive();
        if (is_interim(answer.status)) continue;  // the answer is still to come
        if (!is_final(answer.status)) co_return made;

        const error_code broken = co_await read_body(stream, buffer, parser, answer.body);
        made.end = end_of(broken, answer_began);
        if (broken) co_return made;
        made.end = attempt_end::answered;
        made.reusable = parser.is_done() && keeps_alive && !write_error && buffer.size() == 0;
        made.answer = std::move(answer);
        co_return made;
    }
    co_return made;
}

}  // namespace seriesgate
