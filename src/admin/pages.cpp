#include "admin/pages.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <memory>
#include <string>

#include "admin/limit_metrics.hpp"
#include "admin/stats.hpp"
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
    out.family("seriesgate_build_info", "A constant 1, labelled with the version.", metric_type::gauge);
    out.sample({{"version", version()}}, 1);
    write(out, figures_of(from.limiter));
    from.write_metrics(out);
    write(out, read_process_stats());
    return out.take();
}

std::string stats_page(const page_sources& from, std::uint64_t shown_max) {
    const auto uptime = std::chrono::duration_cast<std::chrono::seconds>(clock::now() - from.started);
    return stats_json(version(), uptime, from.counts(), figures_of(from.limiter), shown_max) + "\n";
}

page_text make_page(const page_key& key, const page_sources& from) {
    return std::make_shared<const std::string>(key.kind == page_kind::metrics ? metrics_page(from)
                                                                              : stats_page(from, key.shown_max));
}

/// A text of the moment if the shelf has room for it, else the newest that is held.
page_text find_page(const page_key& key, page_shelf& shelf, const page_sources& from) {
    const auto now = clock::now();
    if (!shelf.has_room()) return shelf.newest(key, now);
    page_text text = make_page(key, from);
    shelf.put(key, text, now);
    return text;
}

}  // namespace

void make_pages(const std::stop_token& stop, page_desk& asked, const page_sources& from) {
    std::array<page_shelf, 3> shelves;  // so that no sort is held up by the readers of another
    while (const auto order = asked.take(stop)) {
        const page_key& key = order->key;
        page_shelf& shelf = shelves[key.kind == page_kind::metrics ? 0 : key.is_cut() ? 1 : 2];
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
