#include "ingest/sender_texts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <utility>

#include "config/units.hpp"
#include "core/text.hpp"
#include "limit/explain.hpp"
#include "series/label.hpp"
#include "wire/wire_error.hpp"

namespace seriesgate {
namespace {

/// Longest example in an answer. Prometheus reads 1024 bytes of an answer; 2.42 logs its first line.
constexpr std::size_t example_bytes_max = 256;
/// Beyond this size no further budget is named.
constexpr std::size_t answer_bytes_max = 16u << 10;

/// Explains a refusal when a reload or a new window has made room since.
constexpr std::string_view room_again = "there is room again";
constexpr std::string_view nobody_answered = "the store that shares the limits has not answered";

unsigned status_of(upstream_error_reason reason) noexcept {
    switch (reason) {
        case upstream_error_reason::timeout:
            return 504;
        case upstream_error_reason::busy:
        case upstream_error_reason::unauthorized:
            return 503;
        default:
            return 502;
    }
}

/// Removes `X-Seriesgate-` headers, which only the gate itself may set.
void drop_own_names(http::fields& headers) {
    constexpr std::string_view prefix = "X-Seriesgate-";
    for (auto each = headers.begin(); each != headers.end();) {
        const std::string_view name = each->name_string();
        each = equal_ignoring_case(name.substr(0, prefix.size()), prefix) ? headers.erase(each) : std::next(each);
    }
}

/// Beast throws at twice as much.
constexpr std::size_t header_value_max = 32 * 1024;

void clear_of_ours(reply& answer, const store_access& from) {
    if (from.has_query())
        for (const auto name : {http::field::location, http::field::content_location}) answer.headers.erase(name);
    http::fields headers;
    for (const auto& field : answer.headers) {
        std::string value = from.without_secrets(field.value());
        if (value.size() > header_value_max) value.resize(header_value_max);  // `<secret>` may be longer than one
        headers.insert(field.name(), field.name_string(), value);
    }
    answer.headers = std::move(headers);
    const bool is_compressed = answer.headers.find(http::field::content_encoding) != answer.headers.end();
    std::string body = is_compressed ? std::string{} : from.without_secrets(answer.body);
    if (body == answer.body) return;
    answer.body = std::move(body);
    drop_body_digests(answer.headers);
    for (const auto name : {http::field::content_encoding, http::field::etag}) answer.headers.erase(name);
}

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

std::string refused_summary(const plan_counts& decided) {
    return fmt::format("refused {} new series ({})", decided.refused_series,
                       counted(decided.refused.samples, "sample"));
}

std::string refused_text(const plan& decided, std::string_view tenant, planner& planning, series_limiter& limiter) {
    if (decided.quoted.empty()) return {};
    std::string text;
    std::set<std::string> named;
    std::uint64_t work = rule_work_max;  // no more for all of them than to decide about the request
    for (const refused_entry& refused : decided.quoted) {
        if (refused.limit == unavailable_limit) {
            if (named.insert(std::string{nobody_answered}).second)
                text.append(text.empty() ? "" : "\n").append(nobody_answered);
            continue;
        }
        const auto labels = planning.labels(refused.entry);
        std::string example;  // made once an entry, since it takes a while
        for (const spent_budget& spent : explain(limiter, refused.series, labels, tenant, work)) {
            const std::string budget = to_text(spent).append(rest_text(spent));
            if (text.size() > answer_bytes_max || !named.insert(budget).second) continue;
            if (example.empty()) example = to_text(distinguishing_first(planning, refused.entry), example_bytes_max);
            text.append(text.empty() ? "" : "\n").append(budget).append(", for example ").append(example);
        }
    }
    return refused_summary(decided) + ": " + (text.empty() ? std::string{room_again} : text);
}

std::string untranslated_text(const translation_loss& lost) {
    std::string text;
    if (lost.histograms != 0)
        text = fmt::format("left out {} with custom buckets: remote write 1 has none",
                           counted(lost.histograms, "native histogram"));
    if (lost.invalid.series != 0)
        text += fmt::format("{}left out {} series that a store of remote write 1 would drop, the first for {}",
                            text.empty() ? "" : "\n", lost.invalid.series, lost.invalid.first);
    return text;
}

std::string unanswered_line(const upstream_error& error, const upstream_config& upstream) {
    switch (error.reason) {
        case upstream_error_reason::timeout:
            return fmt::format("no answer from the upstream {} within upstream.timeout ({}){}", error.backend,
                               format_duration(upstream.timeout), error.text);
        case upstream_error_reason::busy:
            return fmt::format("the upstream {} is busy: {}", error.backend, error.text);
        case upstream_error_reason::unauthorized:
            return fmt::format("the upstream {} does not take the credentials of the gate: {}", error.backend,
                               error.text);
        case upstream_error_reason::redirected:
            return fmt::format("the upstream {} redirects, which the gate does not follow: {}", error.backend,
                               error.text);
        case upstream_error_reason::connection_lost:
            return fmt::format("the upstream {} broke off: {}", error.backend, error.text);
        case upstream_error_reason::invalid_answer:
            return fmt::format("the answer of the upstream {} cannot be passed on: {}", error.backend, error.text);
        default:
            return fmt::format("cannot reach the upstream {}: {}", error.backend, error.text);
    }
}

reply unanswered_reply(const upstream_error& error, std::string_view line) {
    reply made = text_reply(status_of(error.reason), line);
    return made.status == 503 ? with_retry_after(std::move(made)) : made;
}

reply passed_on(upstream_answer answer, std::string_view tenant_header, const store_access& from) {
    reply made{.status = answer.status, .headers = {}, .body = std::move(answer.body)};
    copy_end_to_end(answer.headers, made.headers, tenant_header);
    drop_own_names(made.headers);
    if (!is_success(made.status) && from.has_secrets()) clear_of_ours(made, from);
    return made;
}

void note_left_out(const refusing_request& of, ingest_metrics& metrics, left_out_logs& log) {
    if (of.decided.left_out_entries.empty()) return;
    metrics.samples_left_out.add(of.decided.left_out.samples);
    for (const fault_share& share : shares_of(of.decided)) {
        if (share.first == nullptr) continue;
        metrics.series_left_out[share.first->fault].add(share.series);
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
    return fmt::format("left out {} series ({})", decided.left_out_series, counted(decided.left_out.samples, "sample"));
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
    const std::string line = store.without_secrets(text.substr(0, text.find_first_of("\r\n")));
    words.text = without_middle(line, {.head = error_bytes_max, .tail = 0}, "");
    return words;
}

std::string_view senders_then(unsigned status) noexcept {
    return is_retriable(status) ? "retry" : "drop";
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

}  // namespace seriesgate
