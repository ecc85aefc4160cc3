#include "ingest/replication.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/log.hpp"
#include "ingest/ingest_logs.hpp"
#include "ingest/sender_answer.hpp"
#include "ingest/texts.hpp"
#include "net/async.hpp"
#include "net/event_loop.hpp"
#include "upstream/request.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

/// Every answer comes within upstream.timeout; this catches answers lost to a lack of memory.
constexpr auto grace = 5s;

/// The parts of `sent` that are needed to count its outcome later.
outgoing facts_of(const outgoing& sent) {
    return {.version = sent.version,
            .forward = sent.forward,
            .body = sent.body,
            .decided = sent.decided,
            .untranslated = sent.untranslated};
}

void tell_failed(shared_replica& replica, std::uint64_t samples, std::string_view reason, std::string_view err) {
    replica.samples_failed.add(samples);
    const auto news = replica.lost.count(samples);
    if (!news) return;
    log::warn("a replica has not stored what it was sent", {{"requests", news->requests},
                                                            {"samples", news->samples},
                                                            {"replica", replica.store.name},
                                                            {"best_effort", replica.settings.best_effort},
                                                            {"reason", reason},
                                                            {"err", err}});
}

}  // namespace

struct expected_answers {
    async_timer all_there;
    std::vector<std::optional<reply>> answers{};
    std::size_t missing = 0;

    explicit expected_answers(net::io_context& io) : all_there(io, async_timer::time_point::max()) {}

    void take(std::size_t at, reply answer) {
        answers[at].emplace(std::move(answer));
        if (--missing == 0) all_there.cancel();
    }
};

replication::replication(net::io_context& io, shared_stores& shared, const std::string& tenant_header)
    : io_(io), shared_(shared), tenant_header_(tenant_header) {
    for (shared_replica& each : shared.replicas) {
        clients_.emplace_back(io, each.store);
        waited_for_ += each.settings.best_effort ? 0 : 1;
    }
}

void replication::maintain() {
    for (store_client& each : clients_) each.maintain();
}

bool replication::ready() const noexcept {
    for (std::size_t i = 0; i < clients_.size(); ++i)
        if (!shared_.replicas[i].settings.best_effort && !clients_[i].started()) return false;
    return true;
}

replication::expected replication::begin(const upstream_request& of, const outgoing& sent) {
    upstream_request request = of;
    request.for_replica = true;
    auto expects = std::make_shared<expected_answers>(io_);
    for (std::size_t i = 0; i < clients_.size(); ++i) {
        if (shared_.replicas[i].settings.best_effort) {
            begin_copy(i, request, sent);
            continue;
        }
        expects->answers.emplace_back();
        ++expects->missing;
        spawn(io_.get_executor(), ask(i, clients_[i].post(request), facts_of(sent), expects),
              "asking a replica failed");
    }
    return expects;
}

net::awaitable<std::vector<reply>> replication::wait(expected of) {
    if (of->missing != 0) {
        of->all_there.expires_after(shared_.first.upstream.timeout + grace);
        co_await of->all_there.async_wait(no_throw);
    }
    std::vector<reply> answers;
    for (auto& each : of->answers) answers.push_back(each ? std::move(*each) : out_of_memory());
    co_return answers;
}

net::awaitable<void> replication::ask(std::size_t index, net::awaitable<store_client::outcome> answer, outgoing sent,
                                      expected to) {
    shared_replica& replica = shared_.replicas[index];
    std::size_t place = 0;
    for (std::size_t i = 0; i < index; ++i) place += shared_.replicas[i].settings.best_effort ? 0 : 1;
    auto got = co_await std::move(answer);
    to->take(place, take(replica, std::move(got), sent));
}

/// Bounds the copies that no sender waits for: beyond the bounds the replica gets nothing.
void replication::begin_copy(std::size_t index, const upstream_request& request, const outgoing& sent) {
    shared_replica& replica = shared_.replicas[index];
    const auto bytes = static_cast<std::int64_t>(request.body.size() + bytes_held(request.headers));
    if (!shared_.begin_copy(bytes)) {
        replica.dropped.add();
        return tell_failed(replica, sent_samples(sent), "dropped", "too much is on its way to replicas");
    }
    try {
        spawn(io_.get_executor(), copy(index, clients_[index].post(request), facts_of(sent), bytes),
              "sending a replica its copy failed");
    } catch (...) {
        shared_.end_copy(bytes);
        throw;
    }
}

net::awaitable<void> replication::copy(std::size_t index, net::awaitable<store_client::outcome> answer, outgoing sent,
                                       std::int64_t bytes) {
    try {
        auto got = co_await std::move(answer);
        static_cast<void>(take(shared_.replicas[index], std::move(got), sent));
    } catch (...) {
        shared_.end_copy(bytes);
        throw;
    }
    shared_.end_copy(bytes);
}

/// @return the answer for the sender, if it waits for this replica.
reply replication::take(shared_replica& from, store_client::outcome got, const outgoing& sent) {
    const std::uint64_t samples = sent_samples(sent);
    if (!got) {
        const upstream_error& error = got.error();
        from.metrics.upstream_errors[error.reason].add();
        const std::string line = unanswered_line(error, shared_.first.upstream);
        tell_failed(from, samples, name_of(error.reason), line);
        return unanswered_reply(error, line);
    }
    from.metrics.upstream_responses[got->status].add();
    reply answer = passed_on(std::move(*got), tenant_header_, from.store.access);
    const std::uint64_t stored = stored_samples(sent, {}, answer);
    from.samples_stored.add(stored);
    if (stored < samples || !is_success(answer.status))
        tell_failed(from, samples - stored, std::to_string(answer.status),
                    said_by_store(answer, from.store.access).text);
    return answer;
}

}  // namespace seriesgate
