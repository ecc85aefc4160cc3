#include "redis/redis_pipeline.hpp"

#include <hiredis/hiredis.h>

#include <boost/asio/write.hpp>
#include <cassert>
#include <memory>
#include <new>

#include "net/async.hpp"
#include "net/event_loop.hpp"

namespace seriesgate {

std::string command_text(const std::vector<std::string>& words) {
    assert(!words.empty());
    std::vector<const char*> starts;
    std::vector<std::size_t> sizes;
    starts.reserve(words.size());
    sizes.reserve(words.size());
    for (const std::string& each : words) {
        starts.push_back(each.data());
        sizes.push_back(each.size());
    }
    char* made = nullptr;
    const auto size = redisFormatCommandArgv(&made, static_cast<int>(words.size()), starts.data(), sizes.data());
    if (size < 0) throw std::bad_alloc{};
    const std::unique_ptr<char, decltype(&redisFreeCommand)> owned{made, redisFreeCommand};
    return {made, static_cast<std::size_t>(size)};
}

namespace {

using kind = redis_error::kind;

constexpr std::size_t read_bytes = 16 * 1024;

redis_error ended_by(error_code error, const timed_stream& stream) {
    const std::string failure = stream.tls() != nullptr ? stream.tls()->failure() : std::string{};
    if (!failure.empty()) return {.why = kind::unreachable, .text = "TLS: " + failure};
    if (error == net::error::eof) return {.why = kind::unreachable, .text = "it closed the connection"};
    return {.why = kind::unreachable, .text = "the connection was lost: " + error.message()};
}

}  // namespace

redis_pipeline::redis_pipeline(timed_stream stream) : stream_(std::move(stream)) {
    stream_.expires_at(clock::time_point::max());
}

net::awaitable<redis_answer> redis_pipeline::call(const std::vector<std::string>& words, clock::time_point limit) {
    if (end_) co_return *end_;
    if (is_full()) co_return redis_error{.why = kind::busy, .text = "too many calls are under way"};
    const auto one = begin(words, limit);
    // The reply comes through the io_context, so never between these two lines.
    one->wakes.expires_at(limit);
    if (!one->answer) co_await one->wakes.async_wait(no_throw);
    if (one->answer) co_return std::move(*one->answer);
    one->is_given_up = true;
    co_return redis_error{.why = kind::timeout, .text = "no answer in time"};
}

void redis_pipeline::post(const std::vector<std::string>& words, clock::time_point limit) {
    if (!end_ && !is_full()) begin(words, limit);
}

void redis_pipeline::close(redis_error why) {
    if (end_) return;
    end_ = std::move(why);
    stream_.close();
    for (const auto& each : std::exchange(waiting_, {})) answer(*each, *end_);
}

bool redis_pipeline::is_full() const noexcept {
    return waiting_.size() >= calls_max || unsent_.size() + sending_bytes_ > unsent_bytes_max;
}

bool redis_pipeline::is_overdue(clock::time_point now, clock::duration by) const noexcept {
    return !waiting_.empty() && now - by >= waiting_.front()->limit;
}

std::shared_ptr<redis_pipeline::pending> redis_pipeline::begin(const std::vector<std::string>& words,
                                                               clock::time_point limit) {
    const auto where = stream_.get_executor();
    auto one = std::make_shared<pending>(pending{.wakes = async_timer{where}, .limit = limit});
    const std::string text = command_text(words);
    unsent_.reserve(unsent_.size() + text.size());
    waiting_.push_back(one);
    unsent_ += text;
    used_at_ = clock::now();
    if (!std::exchange(reading_, true))
        spawn(where, read_all(shared_from_this()), "reading from the shared store failed");
    if (!std::exchange(writing_, true))
        spawn(where, write_all(shared_from_this()), "writing to the shared store failed");
    return one;
}

void redis_pipeline::answer(pending& one, redis_answer with) {
    late_ += one.is_given_up;
    one.answer = std::move(with);
    one.wakes.cancel();
}

void redis_pipeline::take(redis_reply reply) {
    used_at_ = clock::now();
    const bool is_error = reply->type == REDIS_REPLY_ERROR;
    if (waiting_.empty())
        return close(is_error ? error_of_reply(text_of(*reply))
                              : redis_error{.why = kind::protocol, .text = "a reply that nobody has asked for"});
    const auto one = std::move(waiting_.front());
    waiting_.pop_front();
    if (is_error) return answer(*one, error_of_reply(text_of(*reply)));
    answer(*one, std::move(reply));
}

void redis_pipeline::take(std::string_view bytes) {
    reader_.take(bytes);
    while (!end_) {
        redis_reply reply = reader_.next();
        if (!reply) break;
        take(std::move(reply));
    }
    if (!reader_.fault().empty())
        close({.why = kind::protocol, .text = "not the answer of a Redis: " + reader_.fault()});
}

net::awaitable<void> redis_pipeline::read_all(std::shared_ptr<redis_pipeline> of) {
    std::vector<char> room(read_bytes);
    while (!of->end_) {
        const auto into = net::buffer(room);
        auto [error, bytes] = co_await of->stream_.async_read_some(into, no_throw);
        if (of->end_) co_return;
        of->take({room.data(), bytes});
        if (error) of->close(ended_by(error, of->stream_));
    }
}

/// Leaves a write error to the reader, since the server may still send the reason.
net::awaitable<void> redis_pipeline::write_all(std::shared_ptr<redis_pipeline> of) {
    while (!of->end_ && !of->unsent_.empty()) {
        const std::string batch = std::exchange(of->unsent_, {});
        of->sending_bytes_ = batch.size();
        const auto text = net::buffer(batch);
        auto [error, bytes] = co_await net::async_write(of->stream_, text, no_throw);
        if (error) co_return;
        of->sending_bytes_ = 0;
    }
    of->writing_ = false;
}

}  // namespace seriesgate
