#include "ingest/ingest_logs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "series/label.hpp"
#include "wire/wire_error.hpp"

namespace seriesgate {
namespace {

constexpr std::size_t fault_count = static_cast<std::size_t>(series_fault::count_);
constexpr std::size_t shown_name_bytes_max = 100;
constexpr std::size_t shown_example_bytes_max = 256;

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

/// What the log shows of a left-out entry: shortened, control characters escaped.
struct shown_entry {
    std::string metric;
    std::string label;  ///< the wrong label; empty if no single label is wrong
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

constexpr std::size_t error_bytes_max = 256;
constexpr std::size_t retry_after_bytes_max = 64;

}  // namespace

void count_left_out(const plan& decided, ingest_metrics& metrics) {
    if (decided.left_out_entries.empty()) return;
    metrics.samples_left_out.add(decided.left_out.samples);
    const auto shares = shares_of(decided);
    for (std::size_t i = 0; i < shares.size(); ++i)
        if (shares[i].series != 0) metrics.series_left_out[static_cast<series_fault>(i)].add(shares[i].series);
}

void log_left_out(const left_out_request& of, left_out_logs& log) {
    if (of.decided.left_out_entries.empty()) return;
    for (const fault_share& share : shares_of(of.decided)) {
        if (share.first == nullptr) continue;
        const auto series = log.count(share.first->fault, share.series);
        if (!series) continue;
        const shown_entry first = shown(*share.first, of.planning);
        const std::string tenant = readable(shown_tenant(of.tenant));
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

store_words said_by_store(const reply& answer, const store_access& store) {
    store_words words;
    const std::string_view retry_after = field_value(answer.headers, http::field::retry_after);
    words.retry_after = store.without_secrets(retry_after).substr(0, retry_after_bytes_max);
    if (answer.headers.find(http::field::content_encoding) != answer.headers.end()) return words;
    const std::string_view text = answer.body;
    words.text = store.without_secrets(text.substr(0, text.find_first_of("\r\n"))).substr(0, error_bytes_max);
    return words;
}

std::string_view senders_then(unsigned status) noexcept {
    return status >= 500 || status == 429 ? "retry" : "drop";
}

std::array<log::field, 7> describe_store_error(unsigned status, const store_words& words, std::uint64_t requests,
                                               std::string_view sender, std::string_view tenant) {
    return {{{"requests", requests},
             {"status", status},
             {"senders", senders_then(status)},
             {"retry_after", words.retry_after},
             {"sender", sender},
             {"tenant", shown_tenant(tenant)},
             {"err", words.text}}};
}

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
