#include "ingest/replication.hpp"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "base/log.hpp"
#include "ingest/sender_answer.hpp"
#include "ingest/sender_texts.hpp"
#include "net/event_loop.hpp"
#include "upstream/request.hpp"

namespace seriesgate {
namespace {

/// The answer that decides: a retriable error of any store, else an error of the first store, else of another.
reply& decisive(reply& first, std::vector<reply>& others) {
    if (is_retriable(first.status)) return first;
    if (const auto found = std::ranges::find_if(others, is_retriable, &reply::status); found != others.end())
        return *found;
    if (!is_success(first.status)) return first;
    const auto failed = std::ranges::find_if_not(others, is_success, &reply::status);
    return failed == others.end() ? first : *failed;
}

using counts = std::optional<written_counts>;

counts least(const counts& one, const counts& other) {
    if (!one || !other) return std::nullopt;
    return written_counts{.samples = std::min(one->samples, other->samples),
                          .histograms = std::min(one->histograms, other->histograms),
                          .exemplars = std::min(one->exemplars, other->exemplars)};
}

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

void log_failed(shared_replica& replica, std::uint64_t samples, std::string_view reason, std::string_view err) {
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

reply agreed_answer(reply first, std::vector<reply> others) {
    counts written = read_written(first.headers);
    for (const reply& each : others) written = least(written, read_written(each.headers));
    reply agreed = std::move(decisive(first, others));
    if (written)
        write_written(*written, agreed.headers);
    else
        erase_written(agreed.headers);
    return agreed;
}

struct expected_answers {
    async_timer all_there;
    shared_stores::copy_room room;  // of a copy, whose answer nobody waits for
    std::vector<std::optional<reply>> answers{};
    std::size_t missing = 0;

    explicit expected_answers(net::io_context& io, shared_stores::copy_room held = nullptr)
        : all_there(io, async_timer::time_point::max()), room(std::move(held)) {}

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
    const auto expects = std::make_shared<expected_answers>(io_);
    for (std::size_t i = 0; i < clients_.size(); ++i) {
        shared_replica& replica = shared_.replicas[i];
        const bool is_copy = replica.settings.best_effort;
        const expected to = is_copy ? begin_copy(replica, request, sent) : expects;
        if (!to) continue;
        const std::size_t place = to->answers.size();  // an earlier answer may be there already
        to->answers.emplace_back();
        ++to->missing;
        spawn(io_.get_executor(), ask(i, place, clients_[i].post(request), facts_of(sent), to),
              is_copy ? "sending a replica its copy failed" : "asking a replica failed");
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

net::awaitable<void> replication::ask(std::size_t index, std::size_t place,
                                      net::awaitable<store_client::outcome> answer, outgoing sent, expected to) {
    auto got = co_await std::move(answer);
    to->take(place, take(shared_.replicas[index], std::move(got), sent));
}

/// Bounds the copies that no sender waits for: beyond the bounds the replica gets nothing.
/// @return where its answer goes; null if it gets nothing.
replication::expected replication::begin_copy(shared_replica& replica, const upstream_request& request,
                                              const outgoing& sent) {
    auto room = shared_.begin_copy(static_cast<std::int64_t>(request.body.size() + bytes_held(request.headers)));
    if (room) return std::make_shared<expected_answers>(io_, std::move(room));
    replica.dropped.add();
    log_failed(replica, sent_samples(sent), "dropped", "too much is on its way to replicas");
    return nullptr;
}

/// @return the answer for the sender, if it waits for this replica.
reply replication::take(shared_replica& from, store_client::outcome got, const outgoing& sent) {
    const std::uint64_t samples = sent_samples(sent);
    if (!got) {
        const upstream_error& error = got.error();
        from.metrics.upstream_errors[error.reason].add();
        const std::string line = unanswered_line(error, shared_.first.upstream);
        log_failed(from, samples, name_of(error.reason), line);
        return unanswered_reply(error, line);
    }
    from.metrics.upstream_responses[got->status].add();
    reply answer = passed_on(std::move(*got), tenant_header_, from.store.access);
    const std::uint64_t stored = stored_samples(sent, {}, answer);
    from.samples_stored.add(stored);
    if (stored < samples || !is_success(answer.status))
        log_failed(from, samples - stored, std::to_string(answer.status),
                   said_by_store(answer, from.store.access).text);
    return answer;
}

}  // namespace seriesgate
