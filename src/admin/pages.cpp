#include "admin/pages.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <memory>
#include <string>

#include "admin/limit_metrics.hpp"
#include "admin/stats.hpp"
#include "admin/status_page.hpp"
#include "config/version.hpp"
#include "limit/figures.hpp"
#include "log/log.hpp"
#include "metrics/exposition.hpp"
#include "metrics/process.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr int rest_per_work = 3;
constexpr clock::duration rest_max = 1s;

std::string metrics_page(const page_sources& from) {
    exposition out;
    out.family("seriesgate_build_info",
               "A constant 1, labelled with the version, the revision of the source if the build was told, and the "
               "compiler.",
               metric_type::gauge);
    out.sample({{"version", version()}, {"revision", revision()}, {"compiler", compiler()}}, 1);
    write(out, figures_of(from.limiter));
    from.write_metrics(out);
    write(out, read_process_stats());
    return out.take();
}

process_facts facts_of(const page_sources& from) {
    return {.version = version(),
            .uptime = std::chrono::duration_cast<std::chrono::seconds>(clock::now() - from.started)};
}

std::string text_of(const page_key& key, const page_sources& from) {
    switch (key.kind) {
        case page_kind::metrics:
            return metrics_page(from);
        case page_kind::stats:
            return stats_json(facts_of(from), from.counts(), figures_of(from.limiter), key.shown) + "\n";
        case page_kind::status:
            break;
    }
    return status_html(facts_of(from), figures_of(from.limiter));
}

/// So that no sort is held up by the readers of another.
constexpr std::size_t shelves_count = 4;
std::size_t shelf_of(const page_key& key) {
    return key.is_part() ? shelves_count - 1 : static_cast<std::size_t>(key.kind);
}

/// A text of the moment if the shelf has room for it, else the newest that is held.
page_text find_page(const page_key& key, page_shelf& shelf, const page_sources& from) {
    const auto now = clock::now();
    if (!shelf.has_room()) return shelf.newest(key, now);
    auto text = std::make_shared<const std::string>(text_of(key, from));
    shelf.put(key, text, now);
    return text;
}

}  // namespace

void make_pages(const std::stop_token& stop, page_desk& asked, const page_sources& from) {
    std::array<page_shelf, shelves_count> shelves;
    while (const auto order = asked.take(stop)) {
        const page_key& key = order->key;
        page_shelf& shelf = shelves[shelf_of(key)];
        const auto began = clock::now();
        try {
            order->give(find_page(key, shelf, from));
        } catch (const std::exception& error) {  // out of memory: those who wait get 503 in the end
            log::error("figures could not be written", {{"err", error.what()}});
        }
        const auto ended = clock::now();
        asked.rest(stop, ended + std::min((ended - began) * rest_per_work, rest_max));
    }
}

}  // namespace seriesgate
