#include "http/sender_answer.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <set>

#include "http/budget_text.hpp"
#include "http/written_counts.hpp"
#include "series/text.hpp"

namespace seriesgate {
namespace {

/// Of a series in an answer. Prometheus reads 1024 bytes of one, and 2.42 logs its first line.
constexpr std::size_t example_bytes_max = 256;

bool is_success(const reply& answer) {
    return answer.status >= 200 && answer.status <= 299;
}

std::string describe_refused(const plan& decided) {
    return fmt::format("refused {} new series ({} sample{})", decided.refused_series, decided.refused.samples,
                       decided.refused.samples == 1 ? "" : "s");
}

/// A sender of remote write 2 takes a success with less written than it sent for a fault to look into, so what was
/// left out on purpose counts as written; with an error for it, it does not. A store that does not say what it has
/// written may have stored nothing: counts that we made up would hide that.
void tell_written(const outgoing& sent, shared_state& shared, reply& answer) {
    const plan& decided = sent.decided;
    written_counts written = sent.rejection.empty() ? written_of(decided.refused) : written_counts{};
    if (!sent.forwarded || sent.translated || shared.settings.upstream.discard) {
        entry_counts stored = decided.received;
        stored -= decided.refused;
        stored -= sent.untranslated;
        written += written_of(stored);
    } else if (const auto stored = read_written(answer.headers)) {
        written += *stored;
    } else {
        shared.metrics.unconfirmed_requests.add();
        if (!shared.unconfirmed_told.test_and_set())
            spdlog::error(
                "the upstream {} took a remote write 2 request without saying what it has written: it may know only "
                "remote write 1 and have stored nothing. Set upstream.protocol to v1, or let the senders write "
                "version 1 (Prometheus: protobuf_message: prometheus.WriteRequest)",
                shared.settings.upstream.authority);
        return;
    }
    write_written(written, answer.headers);
}

/// Tells who looks what was left out. Senders ignore the headers: a refusal does not heal by retrying.
void tell_refused(const plan& decided, reply& answer) {
    if (decided.refused_series == 0) return;
    answer.headers.set("X-Seriesgate-Refused-Series", std::to_string(decided.refused_series));
    answer.headers.set("X-Seriesgate-Refused-Samples", std::to_string(decided.refused.samples));
}

/// A line after the store's own error.
void append_refused(const plan& decided, reply& answer) {
    const bool readable = answer.headers.find(http::field::content_encoding) == answer.headers.end();
    if (decided.refused_series == 0 || !readable) return;
    if (!answer.body.empty() && answer.body.back() != '\n') answer.body += '\n';
    answer.body += "seriesgate: also " + describe_refused(decided) + "\n";
}

/// What is wrong though the store has taken what it was sent.
void turn_into_error(unsigned status, std::string_view text, reply& answer) {
    for (const auto name : {http::field::content_type, http::field::content_encoding, http::field::etag})
        answer.headers.erase(name);
    const reply error = text_reply(status, text);
    answer.status = error.status;
    answer.body = error.body;
    for (const auto& field : error.headers) answer.headers.set(field.name_string(), field.value());
}

std::string describe_untranslated(const entry_counts& counts) {
    return fmt::format("left out {} native histogram{} with custom buckets: remote write 1 has none", counts.histograms,
                       counts.histograms == 1 ? "" : "s");
}

}  // namespace

std::string describe_rejected(const plan& decided, std::string_view tenant, worker& self) {
    if (decided.rejected.empty()) return {};
    std::string text;
    std::set<std::string> told;
    for (const refusal& rejected : decided.rejected) {
        const auto labels = self.plan_request.labels(rejected.entry);
        for (const spent_budget& spent : self.shared.limits.explain(rejected.series, labels, tenant)) {
            const std::string budget = to_text(spent);
            if (!told.insert(budget).second) continue;
            text.append(text.empty() ? "" : "\n").append(budget).append(", for example ");
            text.append(to_text(self.plan_request.labels(rejected.entry), example_bytes_max));
        }
    }
    if (text.empty()) text = "there is room again";  // a reload or a new window came in between
    return describe_refused(decided) + ": " + text;
}

void tell_sender(const outgoing& sent, protocol version, shared_state& shared, reply& answer) {
    tell_refused(sent.decided, answer);
    if (answer.status >= 400) append_refused(sent.decided, answer);
    if (!is_success(answer)) return;
    if (version == protocol::v2) tell_written(sent, shared, answer);
    std::string wrong = sent.rejection;
    if (sent.untranslated.histograms != 0) {
        if (!wrong.empty()) wrong += '\n';
        wrong += describe_untranslated(sent.untranslated);
    }
    if (!wrong.empty()) turn_into_error(sent.rejection.empty() ? 400 : shared.settings.reject_status, wrong, answer);
}

}  // namespace seriesgate
