#include "redis/redis_connector.hpp"

#include <utility>
#include <vector>

#include "redis/redis_greeting.hpp"
#include "redis/server_answers.hpp"
#include "system/clock.hpp"

namespace seriesgate {
namespace {

using kind = redis_error::kind;
using clock = monotonic_clock;

/// So that time is left for the others.
clock::time_point part_of(clock::time_point by, std::size_t parts) {
    const auto now = clock::now();
    return now + (by - now) / static_cast<std::ptrdiff_t>(parts);
}

redis_error at_sentinel(const host_port& at, const redis_error& why) {
    return {.why = kind::unreachable, .text = "the sentinel at " + at.host + ": " + why.text};
}

void close(redis_pipeline& line) {
    line.close({.why = kind::unreachable, .text = "it is not needed any more"});
}

}  // namespace

net::awaitable<redis_connector::connected> redis_connector::connect_to(const host_port& to, time_limit by) {
    auto line = co_await dialer_.open(to, by);
    if (!line) co_return line.error();
    auto facts = co_await greet(**line, to, config_, shared_, by);
    if (!facts) {
        close(**line);
        co_return facts.error();
    }
    if (!facts->nodes.empty()) route_.learned(std::move(facts->nodes));
    co_return redis_connection{.line = std::move(*line), .at = to, .run_id = std::move(facts->run_id)};
}

net::awaitable<redis_connector::connected> redis_connector::connect(time_limit by) {
    host_port to = route_.next();
    if (!config_.sentinel_addresses.empty()) {
        auto master = co_await find_master(part_of(by, 2));
        if (!master) co_return master.error();
        to = std::move(*master);
    }
    co_return co_await connect_to(to, by);
}

void redis_connector::failed() noexcept {
    ++sentinel_;
    route_.failed();
}

/// One that knows no password wants none; it may have the server's.
net::awaitable<result<host_port, redis_error>> redis_connector::ask_sentinel(const host_port& at, time_limit by) {
    auto line = co_await dialer_.open(at, by);
    if (!line) co_return line.error();
    const std::vector<std::string> question{"SENTINEL", "GET-MASTER-ADDR-BY-NAME", config_.sentinel_master};
    auto answer = co_await (*line)->call(question, by);
    if (!answer && says(answer.error(), "NOAUTH")) {
        auto refused = co_await authenticate(**line, config_, shared_, by);
        if (refused) {
            close(**line);
            co_return std::move(*refused);
        }
        answer = co_await (*line)->call(question, by);
    }
    close(**line);
    if (!answer) co_return answer.error();
    auto master = sentinel_master(**answer);
    if (!master) co_return redis_error{.text = "it knows no master '" + config_.sentinel_master + "'"};
    co_return std::move(*master);
}

net::awaitable<result<host_port, redis_error>> redis_connector::find_master(time_limit by) {
    const auto& all = config_.sentinel_addresses;
    const std::size_t first = sentinel_;
    redis_error last;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const host_port& at = all[(first + i) % all.size()];
        const time_limit until = part_of(by, all.size() - i);
        auto master = co_await ask_sentinel(at, until);
        sentinel_ = first + i;
        if (master) co_return std::move(*master);
        last = at_sentinel(at, master.error());
    }
    co_return last;
}

}  // namespace seriesgate
