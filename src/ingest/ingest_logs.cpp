#include "ingest/ingest_logs.hpp"

#include <utility>

namespace seriesgate {

refusal_log::due refusal_log::count(std::string_view limit, std::string_view tenant, std::uint64_t samples,
                                    clock::time_point now) {
    const std::scoped_lock held{lock_};
    if (now >= interval_end_) begin_interval(now);
    entry& of = entries_.at(limit, tenant);
    of.samples += samples;
    due words;
    if (now >= of.next_line && lines_ < lines_max) {
        ++lines_;
        of.next_line = now + interval;
        words.samples = std::exchange(of.samples, 0);
    } else if (now >= of.next_line) {
        sum_up(of);
    }
    words.others = take_summary(now);
    return words;
}

std::optional<refusal_log::summary> refusal_log::rest(clock::time_point now) {
    const std::scoped_lock held{lock_};
    if (now >= interval_end_) begin_interval(now);
    return take_summary(now);
}

std::optional<refusal_log::summary> refusal_log::take_summary(clock::time_point now) {
    if (rest_.samples == 0 || now < next_summary_) return std::nullopt;
    next_summary_ = now + interval;
    ++summaries_;
    return std::exchange(rest_, {});
}

/// Drops entries that have had no line for a whole interval, to bound the table. Adds their unreported samples to the
/// summary.
void refusal_log::begin_interval(clock::time_point now) {
    interval_end_ = now + interval;
    lines_ = 0;
    entries_.erase_if([&](entry& each) {
        if (each.next_line + interval > now) return false;
        if (each.samples != 0) sum_up(each);
        return true;
    });
}

void refusal_log::sum_up(entry& of) {
    rest_.samples += std::exchange(of.samples, 0);
    rest_.limits += of.summary == summaries_ ? 0 : 1;
    of.summary = summaries_;
}

}  // namespace seriesgate
