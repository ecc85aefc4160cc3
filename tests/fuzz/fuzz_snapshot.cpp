// Any bytes as a limiter's saved state, behind the checksum: they are refused and change nothing, or what they say can
// be worked with, saved and loaded again.
#include "fuzz/fuzz_target.hpp"
#include "fuzz/small_limiter.hpp"
#include "limit/explain.hpp"
#include "limit/figures.hpp"
#include "limit/limiter.hpp"
#include "support/state_text.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

using namespace std::chrono_literals;

struct one_job : label_source {
    std::vector<label_view> labels_{{"__name__", "up"}, {"job", "a"}};
    std::span<const label_view> labels(std::size_t) override { return labels_; }
    histogram_family family(std::size_t, std::span<const label_view>) override { return {.fingerprint = 99}; }
};

void decide_some(series_limiter& limiter, time_point now) {
    one_job job;
    lookup_result scratch;
    std::vector<offered_series> offered;
    for (std::uint64_t i = 0; i < 8; ++i)
        offered.push_back({.fingerprint = i * 0x9e3779b97f4a7c15, .samples = 1, .admits = i != 7});
    std::vector<verdict> verdicts(offered.size());
    limiter.decide(offered, now, verdicts, scratch, {.tenant = "t", .labels = &job});
    std::uint64_t work = rule_work_max;
    for (std::size_t i = 0; i < offered.size(); ++i)
        if (!is_accepted(verdicts[i])) explain(limiter, offered[i], job.labels(i), "t", work);
}

std::string saved(series_limiter& limiter) {
    state_text written;
    require(save_snapshot(limiter, written), "a state cannot be saved");
    return written.text;
}

/// What a state file (tests/golden/state) holds between its header and its checksum, with a byte in front for
/// small_limiter_of; other inputs as they are.
std::string_view limiter_part(std::string_view input) {
    constexpr std::string_view magic{"SGSTATE\n"};
    constexpr std::size_t header = 28;
    constexpr std::size_t checksum = 8;
    if (!input.starts_with(magic) || input.size() < header + checksum) return input;
    input.remove_prefix(header - 1);  // the last byte of an identity: any
    input.remove_suffix(checksum);
    return input;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view input = limiter_part(as_bytes(data, size));
    const auto [settings, now] = small_limiter_of(static_cast<std::uint8_t>(input[0]));
    series_limiter limiter{settings, now};
    state_text_source source{input.substr(1)};
    if (!restore_snapshot(limiter, source, now)) {
        const auto figures = figures_of(limiter);
        require(figures.hourly.series_current == 0 && figures.tenants.empty() && figures.limits.empty(),
                "a state that was refused left something behind");
        decide_some(limiter, now);
        return 0;
    }
    const std::string first = saved(limiter);
    series_limiter again{settings, now};
    state_text_source written{first};
    require(restore_snapshot(again, written, now), "a saved state is refused");
    require(saved(again).size() == first.size(), "a loaded state saves in another way");

    decide_some(limiter, now);
    limiter.maintain(now);
    decide_some(limiter, now + 1h);
    limiter.maintain(now + 1h);
    decide_some(limiter, now + 24h);
    return 0;
}
