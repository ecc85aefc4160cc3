#include "ingest/warm_series.hpp"

#include <algorithm>

namespace seriesgate {

void warm_series::look_at(std::span<const offered_series> offered) noexcept {
    for (const offered_series& each : offered) {
        if (thinning::is_left_out(each.fingerprint, sampled_.level())) continue;
        const auto found = std::ranges::lower_bound(fingerprints_, each.fingerprint);
        if (found == fingerprints_.end() || *found != each.fingerprint) continue;
        met_[static_cast<std::size_t>(found - fingerprints_.begin())].store(true, std::memory_order_relaxed);
    }
}

void warm_series::end(warm_state as) {
    fingerprints_.assign(sampled_.kept().begin(), sampled_.kept().end());
    std::ranges::sort(fingerprints_);
    met_ = std::vector<std::atomic<bool>>(fingerprints_.size());
    is_meeting_.store(true, std::memory_order_release);
    state_.store(as, std::memory_order_relaxed);
}

std::optional<double> warm_series::met() const noexcept {
    if (!has_met_.load(std::memory_order_acquire) || met_.empty()) return std::nullopt;
    const auto met = std::ranges::count_if(met_, [](const auto& each) { return each.load(std::memory_order_relaxed); });
    return static_cast<double>(met) / static_cast<double>(met_.size());
}

void write(exposition& out, const warm_series& progress) {
    write_gauge(out, "seriesgate_warm_start_running",
                "Whether the warm start reads the store: until its end nothing is refused.",
                progress.is_reading() ? 1 : 0);
    write_gauge(out, "seriesgate_warm_start_complete",
                "Whether the warm start has read all that it asked for, or was not needed.",
                progress.state() == warm_state::complete || progress.state() == warm_state::skipped ? 1 : 0);
    out.family("seriesgate_warm_start_series_total",
               "Series of the store: those there before the lookback (old), younger ones that had room, and those that "
               "had none.",
               metric_type::counter);
    out.sample({{"kind", "old"}}, progress.admitted.value());
    out.sample({{"kind", "younger"}}, progress.younger.value());
    out.sample({{"kind", "without_room"}}, progress.without_room.value());
    if (const auto met = progress.met())
        write_gauge(out, "seriesgate_warm_start_met_ratio",
                    "How many of the series that it admitted senders sent in the five minutes after it.", *met);
}

}  // namespace seriesgate
