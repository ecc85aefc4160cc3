#include "ingest/sender_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <string>
#include <string_view>
#include <utility>

#include "core/text.hpp"
#include "ingest/sender_texts.hpp"
#include "upstream/request.hpp"

namespace seriesgate {
namespace {

constexpr std::array count_headers{
    std::pair{"X-Prometheus-Remote-Write-Samples-Written", &written_counts::samples},
    std::pair{"X-Prometheus-Remote-Write-Histograms-Written", &written_counts::histograms},
    std::pair{"X-Prometheus-Remote-Write-Exemplars-Written", &written_counts::exemplars}};

/// Whether the status alone tells what is stored: nothing was sent, or it was sent in remote write 1, where a success
/// means all of it.
bool is_known_by_status(const outgoing& sent, const answer_rules& rules) {
    return sent.forward == body_action::nothing || sent.forward == body_action::translated || rules.discards;
}

/// The accepted counts without what could not be translated.
entry_counts sent_counts(const outgoing& sent) {
    entry_counts counts = sent.decided.accepted();
    return counts -= sent.untranslated;
}

/// Ignores exemplars: a store that keeps none has lost nothing that it should keep.
bool is_less(const written_counts& stored, const written_counts& sent) {
    return stored.samples < sent.samples || stored.histograms < sent.histograms;
}

/// Sets the written counts. A remote write 2 sender treats a success with fewer written samples than sent as a fault.
/// So samples refused on purpose count as written, unless the store's answer is an error. The gate never invents counts
/// for a store that sent none, since that store may have stored nothing.
confirmation set_written(const outgoing& sent, const answer_rules& rules, reply& answer) {
    written_counts written = sent.refused_text.empty() ? written_of(sent.decided.refused) : written_counts{};
    auto made = confirmation::given;
    if (is_known_by_status(sent, rules)) {
        written += written_of(sent_counts(sent));
    } else if (const auto stored = read_written(answer.headers)) {
        written += *stored;
        if (is_less(*stored, written_of(sent_counts(sent)))) made = confirmation::partial;
    } else {
        return confirmation::missing;
    }
    write_written(written, answer.headers);
    return made;
}

/// Sets headers for humans. Senders ignore them, since retries do not help a refused series.
void set_refused(const plan_counts& decided, reply& answer) {
    answer.headers.set("X-Seriesgate-Refused-Series", std::to_string(decided.refused_series));
    answer.headers.set("X-Seriesgate-Refused-Samples", std::to_string(decided.refused.samples));
}

/// Appends a line to the store's error, if the body may be changed.
void append_line(std::string_view summary, reply& answer) {
    const bool is_compressed = answer.headers.find(http::field::content_encoding) != answer.headers.end();
    if (is_compressed || answer.status == 304) return;
    drop_body_digests(answer.headers);
    answer.headers.erase(http::field::etag);
    if (!answer.body.empty() && answer.body.back() != '\n') answer.body += '\n';
    answer.body.append("seriesgate: also ").append(summary).append("\n");
}

void turn_into_error(unsigned status, std::string_view text, reply& answer) {
    for (const auto name : {http::field::content_type, http::field::content_encoding, http::field::etag})
        answer.headers.erase(name);
    drop_body_digests(answer.headers);
    const reply error = text_reply(status, text);
    answer.status = status;
    answer.body = error.body;
    for (const auto& field : error.headers) answer.headers.set(field.name_string(), field.value());
}

/// Turns a success into an error if the sender should get one. Refused series come first.
void report_errors(const outgoing& sent, const answer_rules& rules, reply& answer) {
    std::string text;
    const auto add = [&](const std::string& sentence, reject_reason reason) {
        if (sentence.empty()) return;
        if (text.empty()) answer.rejected = reason;
        text.append(text.empty() ? "" : "\n").append(sentence);
    };
    add(sent.refused_text, reject_reason::refused);
    add(sent.left_out_text, reject_reason::left_out);
    add(sent.untranslated_text, reject_reason::untranslated);
    if (!text.empty()) turn_into_error(sent.refused_text.empty() ? 400 : rules.reject_status, text, answer);
}

/// Whether the body exceeds a bound, rather than being malformed.
bool is_over_bound(wire_errc code) {
    switch (code) {
        case wire_errc::declared_size_over_limit:
        case wire_errc::expands_too_much:
        case wire_errc::series_over_limit:
        case wire_errc::unordered_labels_over_limit:
        case wire_errc::symbols_over_limit:
        case wire_errc::request_symbol_bytes_over_limit:
        case wire_errc::rule_work_over_limit:
            return true;
        default:
            return false;
    }
}

}  // namespace

written_counts written_of(const entry_counts& counts) noexcept {
    return {
        .samples = counts.samples - counts.histograms, .histograms = counts.histograms, .exemplars = counts.exemplars};
}

std::optional<written_counts> read_written(const http::fields& headers) {
    written_counts counts;
    bool any = false;
    for (const auto& [name, count] : count_headers) {
        const auto found = headers.find(name);
        if (found == headers.end()) continue;
        any = true;
        const auto number = whole_number<std::uint64_t>(found->value());
        if (!number) return std::nullopt;
        counts.*count = *number;
    }
    if (!any) return std::nullopt;
    return counts;
}

void write_written(const written_counts& counts, http::fields& headers) {
    for (const auto& [name, count] : count_headers) headers.set(name, std::to_string(counts.*count));
}

void erase_written(http::fields& headers) {
    for (const auto& each : count_headers) headers.erase(each.first);
}

confirmation finish_answer(const outgoing& sent, const answer_rules& rules, reply& answer) {
    assert(sent.refused_text.empty() || sent.decided.refused_series != 0);
    assert(sent.left_out_text.empty() || sent.decided.left_out_series != 0);
    assert((sent.body == nullptr) == (sent.forward == body_action::nothing));
    if (sent.decided.refused_series != 0) {
        set_refused(sent.decided, answer);
        if (!is_success(answer.status)) append_line(refused_summary(sent.decided), answer);
    }
    if (sent.decided.left_out_series != 0) {
        answer.headers.set("X-Seriesgate-Left-Out-Series", std::to_string(sent.decided.left_out_series));
        if (!is_success(answer.status)) append_line(left_out_summary(sent.decided), answer);
    }
    if (!is_success(answer.status)) return confirmation::none_due;
    const bool has_counts = sent.version == protocol::v2;
    const confirmation written = has_counts ? set_written(sent, rules, answer) : confirmation::none_due;
    report_errors(sent, rules, answer);
    return written;
}

std::uint64_t sent_samples(const outgoing& sent) {
    return sent_counts(sent).samples;
}

std::uint64_t stored_samples(const outgoing& sent, const answer_rules& rules, const reply& answer) {
    const entry_counts taken = sent_counts(sent);
    if (sent.forward == body_action::nothing || rules.discards) return taken.samples;
    if (sent.version == protocol::v1 || sent.forward == body_action::translated)
        return is_success(answer.status) ? taken.samples : 0;
    // Version 2 stores send the counts even with an error.
    const auto written = read_written(answer.headers);
    if (!written) return 0;
    const written_counts most = written_of(taken);
    return std::min(most.samples, written->samples) + std::min(most.histograms, written->histograms);
}

reply malformed(const wire_error& error) {
    const reject_reason reason = is_over_bound(error.code) ? reject_reason::too_large : reject_reason::malformed;
    return rejection(reason, 400, to_string(error));
}

reply undecodable(const wire_error& error, std::uint64_t decoded_bytes_max) {
    if (error.code != wire_errc::declared_size_over_limit) return malformed(error);
    const std::string size = error.size != 0 ? counted(error.size, "byte") : std::string{"it goes on"};
    return rejection(reject_reason::too_large, 400,
                     fmt::format("{}: {}, at most {}", to_string(error), size, counted(decoded_bytes_max, "byte")));
}

}  // namespace seriesgate
