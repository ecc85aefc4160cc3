#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <tuple>

#include "limit/verdict.hpp"
#include "plan/planner.hpp"

namespace seriesgate {
namespace {

constexpr std::size_t compared_max = 32;
constexpr std::size_t distance_max = 256;
/// Entries with larger records, or larger labels, are not compared. In remote write 2 the record alone does not show
/// the size: symbols are elsewhere.
constexpr std::uint32_t record_bytes_max = 16u << 10;
constexpr std::size_t label_bytes_max = 16u << 10;

bool is_giant(std::span<const label_view> labels) {
    std::size_t bytes = 0;
    for (const label_view& label : labels) bytes += label.name.size() + label.value.size();
    return bytes > label_bytes_max;
}

class comparison {
    std::span<const label_view> labels_;
    std::vector<std::uint32_t> by_name_;
    std::vector<std::uint32_t> differs_;  // by label: other series with another value
    std::vector<bool> is_usual_;          // by label: a known series has this value
    std::vector<bool> same_;              // of the series being compared
    bool any_known_ = false;

  public:
    explicit comparison(std::span<const label_view> labels)
        : labels_(labels), by_name_(labels.size()), differs_(labels.size()), is_usual_(labels.size()) {
        std::iota(by_name_.begin(), by_name_.end(), 0u);
        std::ranges::stable_sort(by_name_, {}, [this](std::uint32_t i) { return labels_[i].name; });
    }

    void add(std::span<const label_view> other, bool is_known) {
        same_.assign(labels_.size(), false);
        for (const label_view& label : other) {
            const auto own =
                std::ranges::lower_bound(by_name_, label.name, {}, [this](std::uint32_t i) { return labels_[i].name; });
            if (own != by_name_.end() && labels_[*own].name == label.name && labels_[*own].value == label.value)
                same_[*own] = true;
        }
        any_known_ |= is_known;
        for (std::size_t i = 0; i < same_.size(); ++i) {
            differs_[i] += same_[i] ? 0 : 1;
            if (same_[i] && is_known) is_usual_[i] = true;
        }
    }

    [[nodiscard]] std::vector<label_view> distinguishing_first() const {
        std::vector<std::uint32_t> order(labels_.size());
        std::iota(order.begin(), order.end(), 0u);
        std::ranges::stable_sort(order, std::ranges::greater{}, [this](std::uint32_t i) {
            return std::tuple{any_known_ && !is_usual_[i], differs_[i]};
        });
        std::vector<label_view> sorted;
        for (const std::uint32_t i : order) sorted.push_back(labels_[i]);
        return sorted;
    }
};

/// Nearest entries of other series, alternately after and before.
std::vector<std::size_t> neighbours_of(const planner& decided, std::size_t entry) {
    std::vector<std::size_t> near;
    const auto add = [&](std::size_t index) {
        if (near.size() == compared_max || decided.record_of(index).size > record_bytes_max) return;
        if (decided.fingerprint_at(index) != decided.fingerprint_at(entry)) near.push_back(index);
    };
    for (std::size_t distance = 1; distance <= distance_max && near.size() < compared_max; ++distance) {
        if (entry + distance < decided.entry_count()) add(entry + distance);
        if (distance <= entry) add(entry - distance);
    }
    return near;
}

}  // namespace

std::vector<label_view> distinguishing_first(planner& decided, std::size_t entry) {
    const auto shown = decided.labels(entry);
    const std::vector<label_view> labels{shown.begin(), shown.end()};
    if (decided.record_of(entry).size > record_bytes_max || is_giant(labels)) return labels;
    const bytes_view metric = label_value(labels, "__name__");
    const bool is_refused_itself = is_refused(decided.verdict_of(entry));
    comparison kin{labels};
    comparison strangers{labels};
    bool any_kin = false;
    for (const std::size_t index : neighbours_of(decided, entry)) {
        const verdict decision = decided.verdict_of(index);
        const bool is_known = decision == verdict::known || (decision == verdict::admitted && is_refused_itself);
        const auto other = decided.labels(index);
        if (is_giant(other)) continue;
        const bool is_kin = label_value(other, "__name__") == metric;
        any_kin |= is_kin;
        (is_kin ? kin : strangers).add(other, is_known);
    }
    return (any_kin ? kin : strangers).distinguishing_first();
}

}  // namespace seriesgate
