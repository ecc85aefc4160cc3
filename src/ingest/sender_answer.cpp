#include "ingest/sender_answer.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <set>

#include "ingest/written_counts.hpp"
#include "limit/budget_text.hpp"
#include "limit/explain.hpp"
#include "series/text.hpp"

namespace seriesgate {
namespace {

/// Of a series in an answer. Prometheus reads 1024 bytes of one, and 2.42 logs its first line.
constexpr std::size_t example_bytes_max = 256;

bool is_success(const reply& answer) {
    return answer.status >= 200 && answer.status <= 299;
}

std::string describe_refused(const plan_counts& decided) {
    return fmt::format("refused {} new series ({} sample{})", decided.refused_series, decided.refused.samples,
                       decided.refused.samples == 1 ? "" : "s");
}

/// A sender of remote write 2 takes a success with less written than it sent for a fault to look into, so what was
/// left out on purpose counts as written; with an error for it, it does not. A store that does not say what it has
/// written may have stored nothing: counts that we made up would hide that.
void tell_written(const outgoing& sent, ingest_shared& shared, reply& answer) {
    const plan_counts& decided = sent.decided;
    written_counts written = sent.rejection.empty() ? written_of(decided.refused) : written_counts{};
    if (!sent.forwarded || sent.translated || shared.settings.upstream.discard) {
        entry_counts stored = decided.accepted();
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
void tell_refused(const plan_counts& decided, reply& answer) {
    if (decided.refused_series == 0) return;
    answer.headers.set("X-Seriesgate-Refused-Series", std::to_string(decided.refused_series));
    answer.headers.set("X-Seriesgate-Refused-Samples", std::to_string(decided.refused.samples));
}

/// A line after the store's own error.
void append_refused(const plan_counts& decided, reply& answer) {
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

}  // namespace

std::string describe_rejected(const plan& decided, std::string_view tenant, ingestor& self) {
    if (decided.rejected.empty()) return {};
    std::string text;
    std::set<std::string> told;
    for (const refusal& rejected : decided.rejected) {
        const auto labels = self.plan_request.labels(rejected.entry);
        for (const spent_budget& spent : explain(self.shared.limiter, rejected.series, labels, tenant)) {
            const std::string budget = to_text(spent);
            if (!told.insert(budget).second) continue;
            text.append(text.empty() ? "" : "\n").append(budget).append(", for example ");
            text.append(to_text(self.plan_request.labels(rejected.entry), example_bytes_max));
        }
    }
    if (text.empty()) text = "there is room again";  // a reload or a new window came in between
    return describe_refused(decided) + ": " + text;
}

std::uint64_t stored_samples(const outgoing& sent, protocol version, const ingest_shared& shared, const reply& answer) {
    entry_counts taken = sent.decided.accepted();
    taken -= sent.untranslated;
    if (!sent.forwarded || shared.settings.upstream.discard) return taken.samples;
    if (version == protocol::v1 || sent.translated) return is_success(answer) ? taken.samples : 0;
    // Stores of version 2 say what they have written, of a request that they find fault with, too.
    const auto written = read_written(answer.headers);
    if (!written) return 0;
    const written_counts most = written_of(taken);
    return std::min(most.samples, written->samples) + std::min(most.histograms, written->histograms);
}

void tell_sender(const outgoing& sent, protocol version, ingest_shared& shared, reply& answer) {
    tell_refused(sent.decided, answer);
    if (answer.status >= 400) append_refused(sent.decided, answer);
    if (!is_success(answer)) return;
    if (version == protocol::v2) tell_written(sent, shared, answer);
    if (sent.rejection.empty() && sent.left_out.empty()) return;
    const bool both = !sent.rejection.empty() && !sent.left_out.empty();
    const reject_reason reason = sent.rejection.empty() ? reject_reason::untranslated : reject_reason::refused;
    answer.rejected = reason;
    turn_into_error(sent.rejection.empty() ? 400 : shared.settings.reject_status,
                    sent.rejection + (both ? "\n" : "") + sent.left_out, answer);
}

}  // namespace seriesgate
