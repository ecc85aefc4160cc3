#include "fleet/feed_reading.hpp"

#include "limit/learning.hpp"
#include "limit/window.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

/// Between two downloads of what the feed does not have any more.
constexpr auto download_interval = 5s;
/// From the end of the time in which a claim is answered until what it has taken is known.
constexpr auto settled_within = 500ms;
/// Some 30 MB, where each names a few budgets.
constexpr std::size_t late_max = 16 * 1024;

window_span span_of(std::int64_t hour) {
    return hour_of(time_point{std::chrono::hours{hour}});
}

}  // namespace

void feed_reading::begin(std::int64_t hour) {
    if (at_ && at_->hour == hour) return;
    of_.progress.lose();
    at_ = place{.hour = hour};
}

bool feed_reading::take(const feed_answer& said, steady_point sent, series_limiter& limiter, news& into) {
    // What a store has counted after a loss may be other series under the same numbers.
    const bool is_another = at_->read != 0 && said.since != at_->since;
    if (!said.is_whole || is_another || said.series < at_->read) {
        const std::int64_t hour = at_->hour;
        at_.reset();
        begin(hour);
        return false;
    }
    at_->since = said.since;
    for (const fed_claim& one : said.claims)
        if (!take_claim(one, sent, limiter, into)) return false;
    if (said.claims.size() < of_.claims_max && at_->read != said.series) lose_until(said.series, into);
    if (at_->knows_all && at_->read == said.series) of_.progress.note(at_->hour, sent);
    return true;
}

bool feed_reading::take_claim(const fed_claim& one, steady_point now, series_limiter& limiter, news& into) {
    const window_span hour = span_of(at_->hour);
    const bool is_own = one.gate == of_.gate;
    if (!is_own) {
        if (!learn(limiter, hour, one.fingerprints) || !learn(limiter, hour, one.families)) return false;
        into.struck += of_.untold.strike(hour, one.fingerprints);
        into.fed += one.fingerprints.size();
    }
    of_.heard.hear_counted(at_->hour, one.hourly, one.daily);
    if (is_own || !late_.empty()) {
        const auto at = is_own ? now + of_.answers_within + settled_within : late_.back().at;
        late_.push_back({.at = at, .hour = at_->hour, .said = one});
    } else {
        of_.heard.hear_fed(at_->hour, one.hourly, one.daily);
    }
    if (one.upto - one.fingerprints.size() != at_->read) lose_until(one.upto, into);
    at_->read = one.upto;
    return true;
}

/// Something is missing among the series up to that number.
void feed_reading::lose_until(std::uint64_t series, news& into) {
    ++into.gaps;
    of_.progress.lose();
    at_->knows_all = false;
    at_->read = series;
}

/// Another hour's are of no use any more.
void feed_reading::take_late(steady_point now, series_limiter& limiter) {
    while (!late_.empty() && (late_.front().at <= now || late_.size() > late_max)) {
        const late& first = late_.front();
        if (first.said.gate == of_.gate) {
            static_cast<void>(learn(limiter, span_of(first.hour), first.said.fingerprints));
            static_cast<void>(learn(limiter, span_of(first.hour), first.said.families));
        }
        of_.heard.hear_fed(first.hour, first.said.hourly, first.said.daily);
        late_.pop_front();
    }
}

bool feed_reading::wants_download(steady_point now) {
    if (at_->knows_all || now < at_->retry_at) return false;
    at_->retry_at = now + download_interval;
    return true;
}

}  // namespace seriesgate
