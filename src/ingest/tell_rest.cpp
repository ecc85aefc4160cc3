#include "ingest/tell_rest.hpp"

#include <cstddef>
#include <string_view>

#include "http/rejection_log.hpp"
#include "ingest/refusals.hpp"
#include "log/log.hpp"

namespace seriesgate {
namespace {

/// What whoever runs the senders or the store can do about it.
constexpr std::string_view unconfirmed_hint =
    "it may know only remote write 1 and have stored nothing: set upstream.protocol to v1, or let the senders write "
    "version 1 (Prometheus: protobuf_message: prometheus.WriteRequest)";

void tell_unanswered(upstream_health& of) {
    for (std::size_t i = 0; i < counter_by<upstream_error_reason>::size; ++i) {
        const auto reason = static_cast<upstream_error_reason>(i);
        if (const auto requests = of.rest(reason))
            log::warn("more requests without an answer", {{"requests", *requests}, {"reason", name_of(reason)}});
    }
}

}  // namespace

void tell_unconfirmed(const lost_log::news& news, const upstream_config& upstream) {
    log::error("the upstream does not confirm remote write 2", {{"requests", news.requests},
                                                                {"samples", news.samples},
                                                                {"upstream", upstream.store.backends.front().authority},
                                                                {"hint", unconfirmed_hint}});
}

void tell_partly_written(const lost_log::news& news, std::string_view sender, std::string_view tenant,
                         const upstream_config& upstream) {
    log::warn("the store wrote less than it was sent", {{"requests", news.requests},
                                                        {"samples", news.samples},
                                                        {"sender", sender},
                                                        {"tenant", shown_tenant(tenant)},
                                                        {"upstream", upstream.store.backends.front().authority}});
}

void tell_rest(ingest_shared& of) {
    tell_unanswered(of.stores.first.health);
    of.logs.store_errors.rest([](unsigned status, std::uint64_t requests) {
        log::warn("the store rejected more requests",
                  {{"requests", requests}, {"status", status}, {"senders", senders_then(status)}});
    });
    log_further_refusals(of.logs);
    of.logs.left_out.log_rest();
    if (const auto news = of.logs.partly_written.rest())
        log::warn("the store wrote less of more requests", {{"requests", news->requests}, {"samples", news->samples}});
    if (const auto news = of.logs.unconfirmed.rest()) tell_unconfirmed(*news, of.settings.upstream);
    for (shared_replica& each : of.stores.replicas)
        if (const auto news = each.lost.rest())
            log::warn("a replica has not stored more of what it was sent",
                      {{"requests", news->requests}, {"samples", news->samples}, {"replica", each.store.name}});
}

}  // namespace seriesgate
