#include "ingest/texts.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <iterator>
#include <set>
#include <utility>

#include "config/units.hpp"
#include "core/text.hpp"
#include "limit/explain.hpp"
#include "plan/distinguishing_labels.hpp"
#include "series/label.hpp"

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

http::fields cleared(const http::fields& headers, const store_access& from) {
    http::fields made;
    for (const auto& field : headers)
        made.insert(field.name(), field.name_string(), from.without_secrets(field.value()));
    return made;
}

void clear_of_ours(reply& answer, const store_access& from) {
    if (from.has_query())
        for (const auto name : {http::field::location, http::field::content_location}) answer.headers.erase(name);
    answer.headers = cleared(answer.headers, from);
    const bool is_compressed = answer.headers.find(http::field::content_encoding) != answer.headers.end();
    std::string body = is_compressed ? std::string{} : from.without_secrets(answer.body);
    if (body == answer.body) return;
    answer.body = std::move(body);
    drop_body_digests(answer.headers);
    for (const auto name : {http::field::content_encoding, http::field::etag}) answer.headers.erase(name);
}

}  // namespace

std::string refused_summary(const plan_counts& decided) {
    return fmt::format("refused {} new series ({} sample{})", decided.refused_series, decided.refused.samples,
                       decided.refused.samples == 1 ? "" : "s");
}

std::string refused_text(const plan& decided, std::string_view tenant, planner& planning, series_limiter& limiter) {
    if (decided.quoted.empty()) return {};
    std::string text;
    std::set<std::string> named;
    for (const refused_entry& refused : decided.quoted) {
        if (refused.limit == unavailable_limit) {
            if (named.insert(std::string{nobody_answered}).second)
                text.append(text.empty() ? "" : "\n").append(nobody_answered);
            continue;
        }
        const auto labels = planning.labels(refused.entry);
        std::string example;  // made once an entry, since it takes a while
        for (const spent_budget& spent : explain(limiter, refused.series, labels, tenant)) {
            const std::string budget = to_text(spent);
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
        text = fmt::format("left out {} native histogram{} with custom buckets: remote write 1 has none",
                           lost.histograms, lost.histograms == 1 ? "" : "s");
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
    return made.status == 503 ? come_again(std::move(made)) : made;
}

reply passed_on(upstream_answer answer, std::string_view tenant_header, const store_access& from) {
    reply made{.status = answer.status, .headers = {}, .body = std::move(answer.body)};
    copy_end_to_end(answer.headers, made.headers, tenant_header);
    drop_own_names(made.headers);
    if (!is_success(made.status) && from.has_secrets()) clear_of_ours(made, from);
    return made;
}

}  // namespace seriesgate
