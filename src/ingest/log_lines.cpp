#include <array>
#include <span>
#include <string>

#include "base/log.hpp"
#include "core/text.hpp"
#include "ingest/ingest_logs.hpp"
#include "ingest/ingest_shared.hpp"
#include "ingest/sender_texts.hpp"
#include "limit/explain.hpp"
#include "limit/limiter.hpp"
#include "series/label.hpp"

namespace seriesgate {
namespace {

/// The window whose budget is spent; the hour's if both are.
refusing_window window_without_room(const budget_figures& of) {
    return of.hourly.is_spent() ? refusing_window::hourly : refusing_window::daily;
}

enum class refusal_kind : std::uint8_t { refused, observed, exempt_beyond, values_beyond };

void write_line(refusal_kind of, std::span<const log::field> fields) {
    switch (of) {
        case refusal_kind::refused:
            return log::write(log::level::warn, "series refused", fields);
        case refusal_kind::observed:
            return log::write(log::level::warn, "series would be refused", fields);
        case refusal_kind::exempt_beyond:
            return log::write(log::level::warn, "exempt series beyond their limit", fields);
        case refusal_kind::values_beyond:
            return log::write(log::level::warn, "values of ignored labels beyond their limit", fields);
    }
}

void write_rest(refusal_kind of, const refusal_log::summary& rest) {
    const std::array<log::field, 2> fields{{{"samples", rest.samples}, {"limits", rest.limits}}};
    switch (of) {
        case refusal_kind::refused:
            return log::write(log::level::warn, "more series refused", fields);
        case refusal_kind::observed:
            return log::write(log::level::warn, "more series would be refused", fields);
        default:
            return log::write(log::level::warn, "more exempt series or ignored values beyond their limits", fields);
    }
}

/// Shows the budget that counts the first of the series.
void log_share(const refusing_request& of, const limit_share& share, std::uint64_t samples, refusal_kind kind) {
    const refused_entry& first = share.first;
    const auto budget = budget_of(of.limiter, share.limit, of.planning.labels(first.entry), of.tenant);
    const budget_figures shown = budget.value_or(budget_figures{});
    const bool is_own = share.limit == exempt_limit || share.limit == ignored_values_limit;
    const refusing_window window = is_own ? window_without_room(shown) : window_of(first.reason);
    const budget_window_figures& figures = in_window(shown, window);
    const std::string tenant = readable(shown_tenant(of.tenant));
    const auto limit = of.limiter.limit_name(share.limit);
    const std::string group = cut_group_text(shown.name);
    const std::string example = to_text(distinguishing_first(of.planning, first.entry));
    const std::array<log::field, 8> fields{{{"samples", samples},
                                            {"tenant", tenant},
                                            {"limit", limit},
                                            {"group", group},
                                            {"window", to_text(window)},
                                            {"max", figures.series_max},
                                            {"current", figures.series_current},
                                            {"example", example}}};
    write_line(kind, fields);
}

void log_shares(const refusing_request& of, std::span<const limit_share> shares, refusal_log& log, refusal_kind kind) {
    for (const limit_share& share : shares) {
        const auto due = log.count(of.limiter.limit_name(share.limit), of.tenant, share.samples);
        if (due.samples != 0) log_share(of, share, due.samples, kind);
        if (due.others) write_rest(kind, *due.others);
    }
}

void count_shares(const refusing_request& of, std::span<const limit_share> shares, limit_counters& counters) {
    for (const limit_share& share : shares) counters.add(of.limiter.limit_name(share.limit), of.tenant, share.samples);
}

constexpr std::string_view unconfirmed_hint =
    "it may know only remote write 1 and have stored nothing: set upstream.protocol to v1, or let the senders write "
    "version 1 (Prometheus: protobuf_message: prometheus.WriteRequest)";

/// Of backends that went out again before a line was due: else "is back" would be the log's last word about them.
void log_outages(shared_store& of) {
    for (shared_backend& each : of.backends) {
        if (each.health.is_up() || each.outage_logged) continue;
        const auto outages = each.outages.rest();
        if (!outages) continue;
        each.outage_logged = true;
        if (each.health.is_up()) {  // back meanwhile
            each.outage_logged = false;
            continue;
        }
        log::warn("an address of the store is out", {{"upstream", each.name}, {"outages", *outages}});
    }
}

}  // namespace

void log_refusals(const refusing_request& of, ingest_logs& logs) {
    log_shares(of, of.decided.refused_by, logs.refused, refusal_kind::refused);
    log_shares(of, of.decided.observed_by, logs.observed, refusal_kind::observed);
    for (const limit_share& share : of.decided.beyond)
        log_shares(of, {&share, 1}, logs.beyond,
                   share.limit == exempt_limit ? refusal_kind::exempt_beyond : refusal_kind::values_beyond);
}

void count_refusals(const refusing_request& of, ingest_metrics& metrics) {
    count_shares(of, of.decided.refused_by, metrics.limit_samples_refused);
    count_shares(of, of.decided.observed_by, metrics.limit_samples_observed);
    if (of.decided.refused_unknown_samples != 0)
        metrics.limit_samples_refused.add(of.limiter.limit_name(unknown_limit), of.tenant,
                                          of.decided.refused_unknown_samples);
}

std::string stores_waited_for(const upstream_config& upstream) {
    std::string text = upstream.store.backends.front().authority;
    for (const replica_config& each : upstream.replicas)
        if (!each.best_effort) text += ", replica " + each.store.backends.front().authority;
    return text;
}

void write_unconfirmed(const lost_log::news& news, const upstream_config& upstream) {
    log::error("the upstream does not confirm remote write 2", {{"requests", news.requests},
                                                                {"samples", news.samples},
                                                                {"upstream", stores_waited_for(upstream)},
                                                                {"hint", unconfirmed_hint}});
}

void log_rest(ingest_shared& of) {
    of.stores.first.health.rest([](upstream_error_reason reason, std::uint64_t requests) {
        log::warn("more requests without an answer", {{"requests", requests}, {"reason", name_of(reason)}});
    });
    of.logs.store_errors.rest([](unsigned status, std::uint64_t requests) {
        log::warn("the store rejected more requests",
                  {{"requests", requests}, {"status", status}, {"senders", senders_then(status)}});
    });
    if (const auto rest = of.logs.refused.rest()) write_rest(refusal_kind::refused, *rest);
    if (const auto rest = of.logs.observed.rest()) write_rest(refusal_kind::observed, *rest);
    if (const auto rest = of.logs.beyond.rest()) write_rest(refusal_kind::values_beyond, *rest);
    of.logs.left_out.rest([](series_fault fault, std::uint64_t series) {
        log::warn("more series left out", {{"series", series}, {"reason", name_of(fault)}});
    });
    if (const auto news = of.logs.partly_written.rest())
        log::warn("the store wrote less of more requests", {{"requests", news->requests}, {"samples", news->samples}});
    if (const auto news = of.logs.unconfirmed.rest()) write_unconfirmed(*news, of.settings.upstream);
    log_outages(of.stores.first);
    for (shared_replica& each : of.stores.replicas) {
        log_outages(each.store);
        if (const auto news = each.lost.rest())
            log::warn("a replica has not stored more of what it was sent",
                      {{"requests", news->requests}, {"samples", news->samples}, {"replica", each.store.name}});
    }
}

}  // namespace seriesgate
