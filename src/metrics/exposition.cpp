#include "metrics/exposition.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstddef>

namespace seriesgate {
namespace {

std::string_view type_name(metric_type type) noexcept {
    switch (type) {
        case metric_type::counter:
            return "counter";
        case metric_type::gauge:
            return "gauge";
        case metric_type::histogram:
            return "histogram";
    }
    return "untyped";
}

void append_escaped(std::string& out, std::string_view text, bool quotes) {
    for (const char c : text) {
        if (c == '\\') {
            out += "\\\\";
        } else if (c == '\n') {
            out += "\\n";
        } else if (c == '"' && quotes) {
            out += "\\\"";
        } else {
            out += c;
        }
    }
}

void append_number(std::string& out, std::integral auto value) {
    std::array<char, 24> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    out.append(digits.data(), end);
}

void append_number(std::string& out, double value) {
    if (std::isnan(value)) {
        out += "NaN";
        return;
    }
    if (std::isinf(value)) {
        out += value > 0 ? "+Inf" : "-Inf";
        return;
    }
    // 0.0001 reads better than 1e-04, which to_chars would prefer; far from 1 the digits would only be noise.
    const double size = std::abs(value);
    const bool plain = size == 0 || (size >= 1e-9 && size < 1e18);
    std::array<char, 64> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                   plain ? std::chars_format::fixed : std::chars_format::scientific)
                         .ptr;
    out.append(digits.data(), end);
}

void append_label(std::string& out, bool first, std::string_view name, std::string_view value) {
    out += first ? '{' : ',';
    out += name;
    out += "=\"";
    append_escaped(out, value, true);
    out += '"';
}

template <typename Number>
void append_line(std::string& out, std::string_view name, std::string_view suffix, metric_labels labels,
                 std::string_view le, Number value) {
    out += name;
    out += suffix;
    bool first = true;
    for (const metric_label& label : labels) {
        append_label(out, first, label.name, label.value);
        first = false;
    }
    if (!le.empty()) {
        append_label(out, first, "le", le);
        first = false;
    }
    if (!first) out += '}';
    out += ' ';
    append_number(out, value);
    out += '\n';
}

}  // namespace

void exposition::family(std::string_view name, std::string_view help, metric_type type) {
    name_ = name;
    text_ += "# HELP ";
    text_ += name;
    text_ += ' ';
    append_escaped(text_, help, false);
    text_ += "\n# TYPE ";
    text_ += name;
    text_ += ' ';
    text_ += type_name(type);
    text_ += '\n';
}

void exposition::append(metric_labels labels, std::uint64_t value) {
    append_line(text_, name_, "", labels, "", value);
}

void exposition::append(metric_labels labels, std::int64_t value) {
    append_line(text_, name_, "", labels, "", value);
}

void exposition::sample(metric_labels labels, double value) {
    append_line(text_, name_, "", labels, "", value);
}

void exposition::sample(metric_labels labels, const duration_histogram::snapshot& value) {
    for (std::size_t i = 0; i < duration_histogram::bounds.size(); ++i) {
        append_line(text_, name_, "_bucket", labels, duration_histogram::bounds[i].seconds, value.cumulative[i]);
    }
    append_line(text_, name_, "_bucket", labels, "+Inf", value.count);
    append_line(text_, name_, "_sum", labels, "", std::chrono::duration<double>(value.sum).count());
    append_line(text_, name_, "_count", labels, "", value.count);
}

void write_counter(exposition& out, std::string_view name, std::string_view help, const counter& value) {
    out.family(name, help, metric_type::counter);
    out.sample({}, value.value());
}

void write_gauge(exposition& out, std::string_view name, std::string_view help, const gauge& value) {
    out.family(name, help, metric_type::gauge);
    out.sample({}, value.value());
}

void write_histogram(exposition& out, std::string_view name, std::string_view help, const duration_histogram& value) {
    out.family(name, help, metric_type::histogram);
    out.sample({}, value.read());
}

namespace {

void write_requests(exposition& out, const counter_by_status& values) {
    out.family("seriesgate_requests_total", "Remote write requests answered, by HTTP status code.",
               metric_type::counter);
    for (unsigned code = values.code_min; code <= values.code_max; ++code) {
        if (const auto value = values[code].value(); value != 0) {
            out.sample({{"code", std::to_string(code)}}, value);
        }
    }
    if (const auto value = values[values.other].value(); value != 0) out.sample({{"code", "other"}}, value);
}

void write_request_metrics(exposition& out, const gate_metrics& metrics) {
    write_requests(out, metrics.requests);
    write_counters(out, "seriesgate_requests_rejected_total",
                   "Requests that the gate itself answered with an error, by reason.", "reason",
                   metrics.requests_rejected);
    write_counters(out, "seriesgate_requests_forwarded_total",
                   "Decoded requests by what was sent upstream: the sender's own bytes (unchanged), the kept part "
                   "(spliced), what was kept in remote write 1 (translated), or nothing since everything was refused "
                   "(none).",
                   "kind", metrics.requests_forwarded);
    write_counter(out, "seriesgate_query_arguments_dropped_total",
                  "Arguments of senders' query strings that were left out, see upstream.forwardQuery.",
                  metrics.query_arguments_dropped);
    write_counter(out, "seriesgate_requests_discarded_total",
                  "Requests accepted and dropped because upstream.url is discard:.", metrics.requests_discarded);
    write_counter(out, "seriesgate_unconfirmed_requests_total",
                  "Remote write 2 requests that the upstream answered with success without saying what it has written.",
                  metrics.unconfirmed_requests);
    write_counter(out, "seriesgate_untranslated_histograms_total",
                  "Native histograms with custom buckets that were left out because upstream.protocol is v1.",
                  metrics.untranslated_histograms);
    write_counter(out, "seriesgate_untranslated_series_total",
                  "Series entries that were left out because upstream.protocol is v1 and a store would drop them: no "
                  "metric name, a label's name twice, no UTF-8.",
                  metrics.untranslated_series);
    write_histogram(out, "seriesgate_request_duration_seconds",
                    "Time from the first byte of a remote write request to the last byte of the answer.",
                    metrics.request_duration);
}

void write_sample_metrics(exposition& out, const gate_metrics& metrics) {
    write_counter(out, "seriesgate_samples_received_total",
                  "Samples and native histograms received in requests that decode.", metrics.samples_received);
    write_counter(out, "seriesgate_samples_accepted_total", "Samples and native histograms that passed the limits.",
                  metrics.samples_accepted);
    write_counter(out, "seriesgate_samples_refused_total",
                  "Samples and native histograms refused because a limit is spent.", metrics.samples_refused);
    write_counter(out, "seriesgate_samples_stored_total",
                  "Accepted samples and native histograms that the upstream has confirmed.", metrics.samples_stored);
    write_counter(
        out, "seriesgate_samples_failed_total",
        "Accepted samples and native histograms that the upstream has not confirmed: it answered with an error, "
        "gave no answer, or did not say that it has written them.",
        metrics.samples_failed);
    write_counter(out, "seriesgate_unknown_dropped_total",
                  "Stale markers and exemplar-only entries dropped because their series is not known.",
                  metrics.unknown_dropped);
    write_counter(out, "seriesgate_histograms_received_total",
                  "Native histograms received; also counted as samples received.", metrics.histograms_received);
    write_counter(out, "seriesgate_exemplars_received_total", "Exemplars received.", metrics.exemplars_received);
    write_counter(out, "seriesgate_metadata_received_total", "Metadata entries received.", metrics.metadata_received);
}

void write_traffic_metrics(exposition& out, const gate_metrics& metrics) {
    write_counter(out, "seriesgate_received_bytes_total", "Bytes of request bodies received, compressed.",
                  metrics.received_bytes);
    write_counter(out, "seriesgate_decoded_bytes_total", "Bytes of request bodies received, decompressed.",
                  metrics.decoded_bytes);
    write_gauge(out, "seriesgate_inflight_requests", "Remote write requests being served.", metrics.inflight_requests);
    write_gauge(out, "seriesgate_inflight_bytes", "Bytes held for requests being served, see server.maxInflightBytes.",
                metrics.inflight_bytes);
    write_gauge(out, "seriesgate_connections", "Open connections from senders.", metrics.connections);
    write_counter(out, "seriesgate_connections_accepted_total", "Connections accepted from senders.",
                  metrics.connections_accepted);
    write_counters(out, "seriesgate_connections_given_up_total",
                   "Connections from senders closed to make room for others, by the bound that was reached.", "reason",
                   metrics.connections_given_up);
    write_counters(out, "seriesgate_connections_turned_away_total",
                   "Connections from senders for which no room could be made, by the bound that was reached.", "reason",
                   metrics.connections_turned_away);
}

void write_configuration_metrics(exposition& out, const gate_metrics& metrics) {
    write_counter(out, "seriesgate_config_reload_requests_total",
                  "Times that a reload was asked for, by SIGHUP or POST /-/reload.", metrics.reload_requests);
    write_counter(out, "seriesgate_config_reloads_total",
                  "Times that the configuration was read again: once a second at most, for all who have asked.",
                  metrics.reloads);
    write_gauge(out, "seriesgate_config_last_reload_successful",
                "Whether the last attempt to read the configuration took it over.", metrics.reload_successful);
    write_gauge(out, "seriesgate_config_last_reload_success_timestamp_seconds",
                "When the configuration was last taken over, since 1970.", metrics.reload_success_seconds);
    write_counter(out, "seriesgate_state_saves_total", "Snapshots written to state.dir.", metrics.state_saves);
    write_counter(out, "seriesgate_state_save_failures_total", "Snapshots that could not be written to state.dir.",
                  metrics.state_save_failures);
    write_gauge(out, "seriesgate_state_bytes", "Size of the last snapshot in state.dir.", metrics.state_bytes);
    write_gauge(out, "seriesgate_state_save_timestamp_seconds", "When the last snapshot was written, since 1970.",
                metrics.state_save_seconds);
}

}  // namespace

void write(exposition& out, const gate_metrics& metrics) {
    write_request_metrics(out, metrics);
    write_sample_metrics(out, metrics);
    write_traffic_metrics(out, metrics);
    write_configuration_metrics(out, metrics);
}

}  // namespace seriesgate
