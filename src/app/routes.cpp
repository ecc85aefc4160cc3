#include "app/routes.hpp"

#include <cassert>
#include <utility>
#include <vector>

namespace seriesgate {
namespace {

constexpr std::string_view read_only = "GET, HEAD";
constexpr std::string_view write_only = "POST";

net::awaitable<reply> unexpected(http_request&) {
    assert(false && "a worker's request at the front desk");
    co_return text_reply(503, "this thread takes no data");
}

}  // namespace

request_handler never_at_the_front_desk() {
    return unexpected;
}

route_table make_routes(admin_answers& admin, const request_handler& ingest, std::string_view tenant_path) {
    constexpr auto senders = route_kind::ingestion;
    constexpr auto people = route_kind::admin;
    using answers = net::awaitable<reply> (admin_answers::*)(const http_request&);
    const auto by = [&admin](answers answer) -> request_handler {
        return [&admin, answer](http_request& request) { return (admin.*answer)(request); };
    };
    std::vector<route> all{{"/api/v1/write", write_only, senders, ingest},
                           {"/api/v1/push", write_only, senders, ingest},
                           {"/api/prom/push", write_only, senders, ingest},
                           {"/api/v1/receive", write_only, senders, ingest},
                           {"/prometheus/api/v1/write", write_only, senders, ingest},
                           {"/prometheus/api/v1/push", write_only, senders, ingest},
                           {"/", read_only, people, by(&admin_answers::status)},
                           {"/health", read_only, people, by(&admin_answers::healthy)},
                           {"/-/healthy", read_only, people, by(&admin_answers::healthy)},
                           {"/-/ready", read_only, people, by(&admin_answers::ready)},
                           {"/stats", read_only, people, by(&admin_answers::stats)},
                           {"/metrics", read_only, people, by(&admin_answers::metrics)},
                           {"/config", read_only, people, by(&admin_answers::configuration)},
                           {"/api/v1/top", read_only, people, by(&admin_answers::top)},
                           {"/api/v1/findings", read_only, people, by(&admin_answers::findings)},
                           {"/api/v1/refused", read_only, people, by(&admin_answers::refused)},
                           {"/api/v1/explain", read_only, people, by(&admin_answers::explain)},
                           {"/api/v1/suggestions", read_only, people, by(&admin_answers::suggestions)},
                           {"/-/reload", write_only, people, by(&admin_answers::reload)}};
    if (!tenant_path.empty()) all.push_back({tenant_path, write_only, senders, ingest});
    return route_table{std::move(all)};
}

}  // namespace seriesgate
