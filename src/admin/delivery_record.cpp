#include "admin/delivery_record.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace seriesgate {
namespace {

/// Rounded down: 100 % only if nothing is missing.
std::string percent(std::uint64_t part, std::uint64_t whole) {
    const auto hundredths = std::floor(10'000.0 * static_cast<double>(part) / static_cast<double>(whole));
    return fmt::format("{:.{}f} %", hundredths / 100, part == whole ? 0 : 2);
}

/// `connection_refused` becomes `connection refused`.
std::string in_words(std::string reason) {
    std::ranges::replace(reason, '_', ' ');
    return reason;
}

/// The text with the largest increase.
std::string most_since(const named_counts& now, const named_counts& before) {
    std::string most;
    std::uint64_t most_often = 0;
    for (const auto& [what, count] : now) {
        const auto then = std::ranges::find(before, what, &named_counts::value_type::first);
        const std::uint64_t often = count - (then == before.end() ? 0 : std::min(count, then->second));
        if (often <= most_often) continue;
        most_often = often;
        most = what;
    }
    return most;
}

}  // namespace

delivery_record::moment delivery_record::moment_of(std::chrono::sys_seconds now, const gate_counts& counts) {
    moment made{.when = now,
                .stored = counts.samples.stored,
                .failed = counts.samples.failed,
                .refused = counts.samples.refused_by_limits};
    for (const auto& [reason, count] : counts.requests.upstream_errors_by_reason)
        made.first_store.emplace_back(in_words(reason), count);
    std::uint64_t successes = 0;
    for (const auto& [status, count] : counts.requests.upstream_by_status)
        if (status.starts_with('2'))
            successes += count;
        else
            made.first_store.emplace_back("it answers " + status, count);
    made.first_store.emplace_back("", successes);
    for (const store_counts& each : counts.stores)
        if (each.is_replica && !each.best_effort) made.replicas.emplace_back(each.name, each.samples_failed);
    made.confirmations = {{"it does not say what it has written, see upstream.protocol", counts.requests.unconfirmed},
                          {"it says that it has written less", counts.requests.partly_written}};
    return made;
}

void delivery_record::note(std::chrono::sys_seconds now, const gate_counts& counts) {
    moment made = moment_of(now, counts);
    if (moments_.empty() || made.stored > moments_.back().stored || made.when < moments_.back().when)
        last_stored_ = now;
    const std::uint64_t refused = made.refused - (moments_.empty() ? 0 : moments_.back().refused);
    if (refused > 0) last_refused_ = now;
    if (moments_.empty() || now < moments_.back().when) watched_since_ = now;
    refused_ = until(now);
    refused_.back() += refused;
    minute_ = std::chrono::floor<std::chrono::minutes>(now);
    if (!moments_.empty() && made.when < moments_.back().when) moments_.clear();  // the clock was set back
    moments_.push_back(std::move(made));
    while (moments_.front().when + window < now) moments_.pop_front();
}

/// The last moment not later than `when`.
const delivery_record::moment& delivery_record::before(std::chrono::sys_seconds when) const {
    const auto later = std::ranges::upper_bound(moments_, when, {}, &moment::when);
    return later == moments_.begin() ? moments_.front() : *(later - 1);
}

/// The refused samples by minute, shifted so that the last minute is that of `now`. Empty after the clock was set back.
delivery_record::minutes delivery_record::until(std::chrono::sys_seconds now) const {
    const auto passed = (std::chrono::floor<std::chrono::minutes>(now) - minute_).count();
    minutes made{};
    if (passed >= 0 && passed < std::ssize(refused_))
        std::ranges::copy(refused_.begin() + passed, refused_.end(), made.begin());
    return made;
}

delivery_facts delivery_record::facts(std::chrono::sys_seconds now, const gate_counts& counts, bool has_store) const {
    const moment last = moment_of(now, counts);
    const std::uint64_t refused = moments_.empty() ? 0 : last.refused - moments_.back().refused;
    delivery_facts made{.is_discarded = !has_store,
                        .watched_since = watched_since_,
                        .last_refused = refused > 0 ? std::optional{now} : last_refused_,
                        .refused_by_minute = until(now)};
    made.refused_by_minute.back() += refused;
    if (!has_store || moments_.empty()) return made;
    const moment& first = before(now - window);
    made.stored = last.stored - first.stored;
    made.failed = last.failed - first.failed;
    const moment& then = before(last_stored_);  // some senders retry only once a minute
    if (now - last_stored_ >= patience && last.failed > then.failed && last.stored == moments_.back().stored) {
        made.nothing_since = last_stored_;
        made.why = most_since(last.first_store, then.first_store);
        if (made.why.empty()) made.failing_replica = most_since(last.replicas, then.replicas);
        if (made.why.empty() && made.failing_replica.empty())
            made.why = most_since(last.confirmations, then.confirmations);
    }
    return made;
}

std::string to_text(const delivery_facts& facts) {
    if (facts.is_discarded) return "Samples are discarded on purpose, by upstream.url";
    if (!facts.failing_replica.empty())
        return fmt::format("Nothing is confirmed to senders since {:%H:%M} UTC: the replica {} does not store it",
                           fmt::gmtime(*facts.nothing_since), facts.failing_replica);
    if (facts.nothing_since) {
        std::string text =
            fmt::format("Nothing reaches the store since {:%H:%M} UTC", fmt::gmtime(*facts.nothing_since));
        return facts.why.empty() ? text : text.append(": ").append(facts.why);
    }
    const std::uint64_t all = facts.stored + facts.failed;
    if (all == 0) return "No sample went to the store in the last five minutes";
    return fmt::format("{} of samples stored in the last five minutes", percent(facts.stored, all));
}

}  // namespace seriesgate
