#include "ingest/left_out.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "log/log.hpp"
#include "series/label.hpp"
#include "wire/wire_error.hpp"

namespace seriesgate {
namespace {

constexpr std::size_t fault_count = static_cast<std::size_t>(series_fault::count_);
constexpr std::size_t shown_name_bytes_max = 100;
constexpr std::size_t shown_example_bytes_max = 256;
constexpr std::size_t shown_sender_tenant_bytes_max = 100;

/// The series of a request that have the same fault.
struct fault_share {
    std::uint64_t series = 0;
    const left_out_entry* first = nullptr;
};

std::array<fault_share, fault_count> shares_of(const plan& decided) {
    std::array<fault_share, fault_count> shares{};
    for (const left_out_entry& each : decided.left_out_entries) {
        fault_share& share = shares[static_cast<std::size_t>(each.fault)];
        if (share.series++ == 0) share.first = &each;
    }
    return shares;
}

/// What tells people where to look. Names are cut, and safe to show.
struct shown_entry {
    std::string metric;
    std::string label;  ///< the one that is wrong; empty if no single one is
    std::string text;
};

std::string shown_name(bytes_view name) {
    return readable(name.substr(0, shown_name_bytes_max));
}

const label_view* wrong_label(std::span<const label_view> labels, series_fault fault) {
    if (labels.empty()) return nullptr;
    if (fault == series_fault::odd_symbol_refs) return &labels.back();
    if (fault != series_fault::label_too_long) return nullptr;
    const auto is_too_long = [](const label_view& label) {
        return std::max(label.name.size(), label.value.size()) > label_bytes_max;
    };
    const auto found = std::ranges::find_if(labels, is_too_long);
    return found == labels.end() ? nullptr : &*found;
}

shown_entry shown(const left_out_entry& entry, planner& planning) {
    const auto labels = planning.labels(entry);
    const label_view* wrong = wrong_label(labels, entry.fault);
    return {.metric = shown_name(label_value(labels, "__name__")),
            .label = wrong == nullptr ? std::string{} : shown_name(wrong->name),
            .text = to_text(labels, shown_example_bytes_max)};
}

}  // namespace

std::optional<std::uint64_t> left_out_log::count(series_fault fault, std::uint64_t series) noexcept {
    return logs_[static_cast<std::size_t>(fault)].count(series);
}

void left_out_log::log_rest() {
    for (std::size_t i = 0; i < logs_.size(); ++i)
        if (const auto series = logs_[i].rest())
            log::warn("more series left out", {{"series", *series}, {"reason", name_of(static_cast<series_fault>(i))}});
}

void count_left_out(const plan& decided, ingest_metrics& metrics) {
    if (decided.left_out_entries.empty()) return;
    metrics.samples_left_out.add(decided.left_out.samples);
    const auto shares = shares_of(decided);
    for (std::size_t i = 0; i < shares.size(); ++i)
        if (shares[i].series != 0) metrics.series_left_out[static_cast<series_fault>(i)].add(shares[i].series);
}

void log_left_out(const left_out_request& of, left_out_log& log) {
    if (of.decided.left_out_entries.empty()) return;
    for (const fault_share& share : shares_of(of.decided)) {
        if (share.first == nullptr) continue;
        const auto series = log.count(share.first->fault, share.series);
        if (!series) continue;
        const shown_entry first = shown(*share.first, of.planning);
        const std::string tenant = readable(of.tenant.substr(0, shown_sender_tenant_bytes_max));
        log::warn("series left out", {{"series", *series},
                                      {"reason", name_of(share.first->fault)},
                                      {"metric", first.metric},
                                      {"label", first.label},
                                      {"sender", of.sender},
                                      {"tenant", tenant},
                                      {"example", first.text}});
    }
}

std::string left_out_summary(const plan_counts& decided) {
    return fmt::format("left out {} series ({} sample{})", decided.left_out_series, decided.left_out.samples,
                       decided.left_out.samples == 1 ? "" : "s");
}

std::string left_out_text(const plan& decided, planner& planning) {
    if (decided.left_out_entries.empty()) return {};
    std::string text = left_out_summary(decided);
    const char* separator = ": ";
    for (const fault_share& share : shares_of(decided)) {
        if (share.first == nullptr) continue;
        const shown_entry first = shown(*share.first, planning);
        text += fmt::format("{}{} with {}, the first {}", separator, share.series, to_string(share.first->fault),
                            first.metric.empty() ? first.text : first.metric);
        if (!first.label.empty()) text += ", its label " + first.label;
        separator = "; ";
    }
    return text;
}

}  // namespace seriesgate
