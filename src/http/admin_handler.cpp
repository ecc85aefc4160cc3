#include "http/admin_handler.hpp"

#include <algorithm>
#include <array>

#include "config/version.hpp"
#include "http/limit_metrics.hpp"
#include "http/stats.hpp"
#include "metrics/exposition.hpp"
#include "metrics/process.hpp"

namespace seriesgate {
namespace {

using handler = reply (*)(const shared_state&);

reply healthy(const shared_state&) {
    return text_reply(200, "OK");
}

reply ready(const shared_state& shared) {
    if (shared.draining) return text_reply(503, "draining: shutting down");
    if (!shared.ready) return text_reply(503, "starting");
    return text_reply(200, "OK");
}

reply stats(const shared_state& shared) {
    const auto uptime = std::chrono::steady_clock::now() - shared.started;
    reply made{.status = 200,
               .headers = {},
               .body = stats_json(version(), std::chrono::duration_cast<std::chrono::seconds>(uptime), shared.metrics,
                                  shared.limits.figures()) +
                       "\n"};
    made.headers.set(http::field::content_type, "application/json");
    return made;
}

reply metrics(const shared_state& shared) {
    exposition out;
    out.family("seriesgate_build_info", "A constant 1, labelled with the version.", metric_type::gauge);
    out.sample({{"version", version()}}, 1);
    seriesgate::write(out, shared.limits.figures());
    seriesgate::write(out, shared.metrics);
    seriesgate::write(out, read_process_stats());
    reply made{.status = 200, .headers = {}, .body = out.take()};
    made.headers.set(http::field::content_type, exposition_content_type);
    return made;
}

reply reload(const shared_state& shared) {
    const reload_outcome outcome = shared.reload();
    return text_reply(outcome.ok ? 200 : 400, outcome.text);
}

struct route {
    std::string_view path;
    handler answer;
    std::string_view methods = "GET, HEAD";
};

constexpr std::array routes{route{"/health", healthy},  route{"/-/healthy", healthy},
                            route{"/-/ready", ready},   route{"/stats", stats},
                            route{"/metrics", metrics}, route{"/-/reload", reload, "POST"}};

const route* find_route(std::string_view path) {
    const auto* const found = std::ranges::find(routes, path, &route::path);
    return found == routes.end() ? nullptr : found;
}

}  // namespace

std::string_view admin_methods(std::string_view path) {
    const route* const found = find_route(path);
    return found == nullptr ? std::string_view{} : found->methods;
}

reply handle_admin(std::string_view path, const shared_state& shared) {
    return find_route(path)->answer(shared);
}

}  // namespace seriesgate
