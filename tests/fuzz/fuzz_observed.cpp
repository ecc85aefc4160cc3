// Any bytes as what a gate had seen before, behind the checksum: refused, and nothing has changed, or taken, within the
// bounds of the tables; then they can be noted in, asked, saved and loaded again.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <vector>

#include "cardinality/cardinality_tracker.hpp"
#include "cardinality/findings.hpp"
#include "cardinality/remedy.hpp"
#include "fuzz/fuzz_target.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

using namespace std::chrono_literals;

const std::vector<std::string> chosen{"job"};

struct one_job : label_source {
    std::vector<label_view> labels_{{"__name__", "up"}, {"job", "a"}, {"n", "1"}};
    std::span<const label_view> labels(std::size_t) override { return labels_; }
    histogram_family family(std::span<const label_view>) override { return {}; }
};

/// Half an hour after the hour that the input names, if there can be such a time: else nothing of it is taken.
time_point time_of(std::string_view input) {
    std::int64_t seconds = 0;
    if (input.size() >= sizeof seconds) std::memcpy(&seconds, input.data(), sizeof seconds);
    constexpr std::int64_t last = std::int64_t{1} << 32;
    return time_point{std::chrono::seconds{std::clamp<std::int64_t>(seconds, 0, last)}} + 30min;
}

void note_some(talkers& who, time_point now) {
    one_job job;
    std::vector<offered_series> offered;
    std::vector<std::uint32_t> entries;
    for (std::uint32_t i = 0; i < 200; ++i) {
        offered.push_back({.fingerprint = i * 0x9e3779b97f4a7c15});
        entries.push_back(i);
    }
    who.note(talker_kind::refused, offered, entries, job, {.tenant = "t", .address = "a"}, now);
}

void ask(talkers& who) {
    for (const talker_window window : {talker_window::hourly, talker_window::daily}) {
        const talker_tables arrived = who.tables(talker_kind::arrived, window);
        const talker_tables refused = who.tables(talker_kind::refused, window);
        require(arrived.metrics().in_all().all().size() <= talker_tables::metrics_max, "too many metrics");
        require(refused.watched().metrics().size() <= watched_metrics::metrics_max, "too many are watched");
        for (const finding& each :
             find_explosions(arrived, refused, {.series_min = 1, .values_min = 1}, who.samples())) {
            require(to_text(each).find('\n') == std::string::npos, "a finding of several lines");
            const remedy stop = remedy_of(each, who.samples());
            require(stop.relabel.empty() || stop.relabel.ends_with('\n'), "a remedy without a line's end");
        }
    }
}

std::string saved(talkers& who) {
    std::string text;
    text_sink sink{text};
    state_encoder out{sink};
    who.save(out);
    return text;
}

bool loads(talkers& who, std::string_view text, time_point now) {
    text_source source{text};
    state_decoder in{source};
    return who.load(in, now);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const time_point now = time_of(as_bytes(data, size));
    talkers who{chosen, hash_key::known_to_all(), now};
    if (!loads(who, as_bytes(data, size), now)) {
        require(who.tables(talker_kind::refused, talker_window::daily).total() == 0, "what was refused left something");
        return 0;
    }
    ask(who);
    note_some(who, now);
    ask(who);
    const std::string text = saved(who);
    talkers again{chosen, hash_key::known_to_all(), now};
    require(loads(again, text, now), "what was saved is refused");
    require(saved(again).size() == text.size(), "what was loaded saves in another way");
    who.maintain(now + 1h);
    ask(who);
    who.maintain(now + 24h);
    return 0;
}
