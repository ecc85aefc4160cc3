// Any bytes as a request to a gate with little room: what the walk accepts, every store's parser reads as the same
// series, and the labels' hash is the one by the book. The plan adds up, and what is left after the splice is the
// original without the refused series, for libprotobuf too.
#include <memory>
#include <unordered_set>

#include "fuzz/fuzz_target.hpp"
#include "fuzz/tree_mutator.hpp"
#include "fuzz/walk_property.hpp"
#include "limit/figures.hpp"
#include "limit/limiter.hpp"
#include "plan/planner.hpp"
#include "series/label.hpp"
#include "wire/splice.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

using namespace std::chrono_literals;
using std::chrono::sys_days;

/// A limiter that starts every input in a fresh hour and day, for building one an input would be slow.
class fresh_limits {
    limit_rules settings_;
    std::unique_ptr<series_limiter> limiter_;
    time_point now_;

  public:
    explicit fresh_limits(limit_rules settings) : settings_{settings} {}

    series_limiter& next() {
        constexpr time_point end = sys_days{2100y / 1 / 1};
        if (!limiter_ || now_ > end) {
            now_ = sys_days{2026y / 11 / 21};
            limiter_ = std::make_unique<series_limiter>(settings_, now_);
        }
        now_ += std::chrono::days{2};
        return *limiter_;
    }
    [[nodiscard]] time_point now() const { return now_; }
    [[nodiscard]] bool unlimited() const { return settings_.global.hourly == 0 && settings_.global.daily == 0; }
};

void require_one_line_each(bytes_view body) {
    std::vector<label_view> labels;
    write_request_reader reader{body};
    while (reader.next()) {
        reader.labels(reader.series().record, labels);
        require(to_text(labels, 100).find('\n') == std::string::npos, "a series' text has a line end");
    }
}

void require_equal_but_for(bytes_view original, bytes_view left, const std::unordered_set<std::size_t>& refused) {
    prometheus::WriteRequest whole;
    prometheus::WriteRequest rest;
    require(whole.ParseFromArray(original.data(), static_cast<int>(original.size())),
            "libprotobuf refuses the original");
    require(rest.ParseFromArray(left.data(), static_cast<int>(left.size())), "libprotobuf refuses the spliced body");
    prometheus::WriteRequest expected = whole;  // with the metadata and what is unknown
    expected.clear_timeseries();
    for (int i = 0; i < whole.timeseries_size(); ++i)
        if (!refused.contains(static_cast<std::size_t>(i))) *expected.add_timeseries() = whole.timeseries(i);
    require(rest.SerializeAsString() == expected.SerializeAsString(), "the spliced body is not the original's rest");
    const walk_check check = check_walk(left);
    require(check.accepted && check.fault.empty(), "the walk refuses the spliced body");
}

/// Indexes of the series entries that the plan removes; what it removes must be such entries, and its counts theirs.
std::unordered_set<std::size_t> refused_entries(bytes_view body, const plan& made,
                                                std::unordered_set<std::size_t>& left_out) {
    std::unordered_set<std::size_t> refused;
    entry_counts received_counts;
    entry_counts refused_counts;
    entry_counts left_out_counts;
    auto next = made.removed.begin();
    write_request_reader reader{body};
    for (std::size_t index = 0; reader.next(); ++index) {
        const series_view& series = reader.series();
        if (const left_out_series* wrong = reader.left_out()) {
            require(next != made.removed.end() && *next == series.record, "what is left out goes on");
            ++next;
            left_out.insert(index);
            left_out_counts += {.samples = wrong->samples + std::uint64_t{wrong->histograms},
                                .histograms = wrong->histograms,
                                .exemplars = wrong->exemplars};
            continue;
        }
        const entry_counts counts{.samples = series.samples + series.histograms,
                                  .histograms = series.histograms,
                                  .exemplars = series.exemplars};
        received_counts += counts;
        if (next == made.removed.end() || !(*next == series.record)) continue;
        ++next;
        refused.insert(index);
        refused_counts += counts;
    }
    require(next == made.removed.end(), "something is removed that is no series");
    const auto equal = [](const entry_counts& a, const entry_counts& b) {
        return a.samples == b.samples && a.histograms == b.histograms && a.exemplars == b.exemplars;
    };
    received_counts += left_out_counts;
    require(equal(made.received, received_counts), "what was received does not add up");
    require(equal(made.left_out, left_out_counts) && made.left_out_series == left_out.size(),
            "what was left out does not add up");
    require(equal(made.refused, refused_counts), "what was refused does not add up");
    std::uint64_t by_limits = made.refused_unknown_samples;
    for (const limit_share& each : made.refused_by) by_limits += each.samples;
    require(by_limits == made.refused.samples, "what the limits have refused does not add up");
    require(made.refused_series <= refused.size() && (made.refused_series == 0) == refused.empty(),
            "series refused do not add up");
    return refused;
}

void require_sound_figures(const limiter_figures& figures, std::uint64_t commits_before, bool accepted) {
    if (!accepted) require(figures.commits == commits_before, "a malformed request has been decided");
    for (const window_figures& window : {figures.hourly, figures.daily})
        require(window.series_max == 0 || window.series_current <= window.series_max, "a budget is exceeded");
}

}  // namespace

const message_kind seriesgate::testing::mutated_message = message_kind::request;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static std::array<fresh_limits, 4> choices{fresh_limits{{.global = {.hourly = 1}}},
                                               fresh_limits{{.global = {.hourly = 2}}},
                                               fresh_limits{{.global = {.hourly = 4, .daily = 3}}}, fresh_limits{{}}};
    static planner make_plan{hash_key::known_to_all()};
    const bytes_view body = as_bytes(data, size);
    fresh_limits& choice = choices[size % choices.size()];
    series_limiter& limiter = choice.next();
    const bool look_at_figures = size / choices.size() % 8 == 0;  // slow, so not for every input
    const std::uint64_t commits_before = look_at_figures ? figures_of(limiter).commits : 0;

    const walk_check check = check_walk(body);
    if (!check.fault.empty()) found(check.fault);
    require_one_line_each(body);
    const auto plan = make_plan(body, limiter, choice.now());
    require(plan.has_value() == check.accepted, "the planner and the walk disagree");
    if (look_at_figures) require_sound_figures(figures_of(limiter), commits_before, check.accepted);
    if (!plan) return 0;

    std::unordered_set<std::size_t> removed_entries;  // what is left out, at first
    const auto refused = refused_entries(body, *plan, removed_entries);
    removed_entries.insert(refused.begin(), refused.end());
    require(plan->metadata == check.seen.metadata, "metadata do not add up");
    if (choice.unlimited()) require(refused.empty(), "refused without a limit");

    require((plan->forward == body_action::unchanged) == removed_entries.empty(), "unchanged is not what it says");
    if (plan->forward == body_action::nothing)
        require(removed_entries.size() == check.seen.series.size() + check.left_out.size() && plan->metadata == 0,
                "something is left to forward");
    if (plan->forward == body_action::spliced) {
        std::string left;
        splice(body, plan->removed, left);
        require_equal_but_for(body, left, removed_entries);
    }

    // A sender that repeats the request meets the same decision.
    const std::vector<byte_range> removed(plan->removed.begin(), plan->removed.end());
    const auto again = make_plan(body, limiter, choice.now());
    require(again.has_value(), "accepted once, malformed the next time");
    require(std::equal(removed.begin(), removed.end(), again->removed.begin(), again->removed.end()),
            "a repeated request is decided in another way");
    return 0;
}
