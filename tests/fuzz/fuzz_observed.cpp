// Any bytes as what a gate had seen before, behind the checksum: refused, and nothing has changed, or taken, within the
// bounds of the tables; then they can be noted in, asked, saved and loaded again.
#include "cardinality/cardinality_tracker.hpp"
#include "cardinality/findings.hpp"
#include "cardinality/remedy.hpp"
#include "fuzz/fuzz_target.hpp"
#include "support/state_text.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

using namespace std::chrono_literals;

const std::vector<std::string> chosen{"job"};

struct one_job : label_source {
    std::vector<label_view> labels_{{"__name__", "up"}, {"job", "a"}, {"n", "1"}};
    std::span<const label_view> labels(std::size_t) override { return labels_; }
    histogram_family family(std::size_t, std::span<const label_view>) override { return {}; }
};

/// Half an hour after the hour that the input names, if there can be such a time: else nothing of it is taken.
time_point time_of(std::string_view input) {
    std::int64_t seconds = 0;
    if (input.size() >= sizeof seconds) std::memcpy(&seconds, input.data(), sizeof seconds);
    constexpr std::int64_t last = std::int64_t{1} << 32;
    return time_point{std::chrono::seconds{std::clamp<std::int64_t>(seconds, 0, last)}} + 30min;
}

void note_some(cardinality_tracker& tracker, time_point now) {
    one_job job;
    std::vector<std::uint64_t> fingerprints;
    for (std::uint64_t i = 0; i < 200; ++i) fingerprints.push_back(i * 0x9e3779b97f4a7c15);
    tracker.note(series_event::refused, fingerprints, job, {.tenant = "t", .address = "a"}, now);
}

void ask(cardinality_tracker& tracker) {
    for (const cardinality_window window : {cardinality_window::hourly, cardinality_window::daily}) {
        const cardinality_tables arrived = tracker.tables(series_event::newly_admitted, window);
        const cardinality_tables refused = tracker.tables(series_event::refused, window);
        require(arrived.metrics().in_all().all().size() <= cardinality_tables::metrics_max, "too many metrics");
        require(refused.watched().metrics().size() <= watched_metrics::metrics_max, "too many are watched");
        for (const finding& each :
             find_explosions(arrived, refused, {.series_min = 1, .values_min = 1}, tracker.samples())) {
            require(to_text(each).find('\n') == std::string::npos, "a finding of several lines");
            const remedy stop = remedy_of(each, tracker.samples());
            require(stop.relabel.empty() || stop.relabel.ends_with('\n'), "a remedy without a line's end");
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const time_point now = time_of(as_bytes(data, size));
    cardinality_tracker tracker{chosen, hash_key::known_to_all(), now};
    const std::string before = saved_text(tracker);
    if (!loads_text(tracker, as_bytes(data, size), now)) {
        require(saved_text(tracker) == before, "what was refused left something");
        return 0;
    }
    ask(tracker);
    note_some(tracker, now);
    ask(tracker);
    const std::string text = saved_text(tracker);
    cardinality_tracker again{chosen, hash_key::known_to_all(), now};
    require(loads_text(again, text, now), "what was saved is refused");
    require(saved_text(again).size() == text.size(), "what was loaded saves in another way");
    tracker.maintain(now + 1h);
    ask(tracker);
    tracker.maintain(now + 24h);
    return 0;
}
