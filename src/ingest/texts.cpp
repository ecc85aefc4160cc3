#include "ingest/texts.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <set>

#include "limit/explain.hpp"
#include "plan/telling_labels.hpp"
#include "series/label.hpp"

namespace seriesgate {
namespace {

/// Of a series in an answer. Prometheus reads 1024 bytes of one, and 2.42 logs its first line.
constexpr std::size_t example_bytes_max = 256;
/// From there on no further budget is named.
constexpr std::size_t answer_bytes_max = 16u << 10;

/// A reload or a new window has come in between.
constexpr std::string_view room_again = "there is room again";
constexpr std::string_view nobody_answered = "the store that shares the limits has not answered";

}  // namespace

std::string refused_summary(const plan_counts& decided) {
    return fmt::format("refused {} new series ({} sample{})", decided.refused_series, decided.refused.samples,
                       decided.refused.samples == 1 ? "" : "s");
}

std::string refused_text(const plan& decided, std::string_view tenant, planner& planning, series_limiter& limiter) {
    if (decided.told.empty()) return {};
    std::string text;
    std::set<std::string> named;
    for (const refused_entry& refused : decided.told) {
        if (refused.limit == unavailable_limit) {
            if (named.insert(std::string{nobody_answered}).second)
                text.append(text.empty() ? "" : "\n").append(nobody_answered);
            continue;
        }
        const auto labels = planning.labels(refused.entry);
        std::string example;  // of the entry, made once: it takes a while
        for (const spent_budget& spent : explain(limiter, refused.series, labels, tenant)) {
            const std::string budget = to_text(spent);
            if (text.size() > answer_bytes_max || !named.insert(budget).second) continue;
            if (example.empty()) example = to_text(telling_first(planning, refused.entry), example_bytes_max);
            text.append(text.empty() ? "" : "\n").append(budget).append(", for example ").append(example);
        }
    }
    return refused_summary(decided) + ": " + (text.empty() ? std::string{room_again} : text);
}

std::string untranslated_text(const translation_loss& lost) {
    std::string text;
    if (lost.histograms != 0)
        text = fmt::format("left out {} native histogram{} with custom buckets: remote write 1 has none",
                           lost.histograms, lost.histograms == 1 ? "" : "s");
    if (lost.invalid.series != 0)
        text += fmt::format("{}left out {} series that a store of remote write 1 would drop, the first for {}",
                            text.empty() ? "" : "\n", lost.invalid.series, lost.invalid.first);
    return text;
}

}  // namespace seriesgate
