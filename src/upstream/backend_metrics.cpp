#include "upstream/backend_metrics.hpp"

#include <cstddef>
#include <string_view>

#include "metrics/exposition.hpp"
#include "upstream/shared_store.hpp"

namespace seriesgate {
namespace {

using stores = std::vector<const shared_store*>;

struct family {
    std::string_view name;
    std::string_view help;
    metric_type type;
};

/// A figure of each store.
template <class Value>
void write_each_store(exposition& out, const family& of, const stores& all, Value value) {
    out.family(of.name, of.help, of.type);
    for (const shared_store* store : all) out.sample({{"store", store->name}}, value(*store));
}

/// A figure of each backend.
template <class Value>
void write_each_backend(exposition& out, const family& of, const stores& all, Value value) {
    out.family(of.name, of.help, of.type);
    for (const shared_store* store : all)
        for (const shared_backend& backend : store->backends)
            out.sample({{"store", store->name}, {"door", backend.name}}, value(backend));
}

void write_errors(exposition& out, const stores& all) {
    out.family("seriesgate_upstream_door_errors_total",
               "Requests that an address of a store gave no answer to, by reason; another address may have.",
               metric_type::counter);
    for (const shared_store* store : all)
        for (const shared_backend& backend : store->backends)
            for (std::size_t i = 0; i < backend.errors.size; ++i) {
                const auto reason = static_cast<upstream_error_reason>(i);
                if (reason == upstream_error_reason::busy) continue;  // of no backend
                out.sample({{"store", store->name}, {"door", backend.name}, {"reason", name_of(reason)}},
                           backend.errors[reason].value());
            }
}

}  // namespace

void write_backends(exposition& out, const stores& all) {
    write_each_backend(
        out,
        {"seriesgate_upstream_door_up",
         "Whether an address of a store answered when it was asked last, errors included.", metric_type::gauge},
        all, [](const shared_backend& backend) { return backend.health.is_up() ? 1 : 0; });
    write_each_backend(
        out,
        {"seriesgate_upstream_door_requests_total",
         "Requests sent to an address of a store, those included that got no answer.", metric_type::counter},
        all, [](const shared_backend& backend) { return backend.requests.value(); });
    write_errors(out, all);
    write_each_backend(out,
                       {"seriesgate_upstream_door_in_flight", "Requests that an address of a store has yet to answer.",
                        metric_type::gauge},
                       all, [](const shared_backend& backend) { return backend.in_flight.value(); });
    write_each_backend(out,
                       {"seriesgate_upstream_door_connections",
                        "Open connections to an address of a store, idle ones included.", metric_type::gauge},
                       all, [](const shared_backend& backend) { return backend.connections.value(); });
    write_each_store(
        out,
        {"seriesgate_upstream_waits_total",
         "Requests that had to wait for a connection to a store, see upstream.maxConnections.", metric_type::counter},
        all, [](const shared_store& store) { return store.waits.value(); });
    write_each_store(
        out, {"seriesgate_upstream_waiting", "Requests that wait for a connection to a store now.", metric_type::gauge},
        all, [](const shared_store& store) { return store.waiting.value(); });
    std::int64_t connections = 0;
    for (const shared_store* store : all)
        for (const shared_backend& backend : store->backends) connections += backend.connections.value();
    out.family("seriesgate_upstream_connections", "Open connections to all stores, idle ones included.",
               metric_type::gauge);
    out.sample({}, connections);
}

}  // namespace seriesgate
