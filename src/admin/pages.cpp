#include "admin/pages.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "admin/api.hpp"
#include "admin/limit_metrics.hpp"
#include "admin/status_page.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "cardinality/suggestions.hpp"
#include "config/effective.hpp"
#include "config/version.hpp"
#include "limit/explain.hpp"
#include "limit/limiter.hpp"
#include "limit/rules.hpp"
#include "series/label.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;
using clock = monotonic_clock;

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
    write_gauge(out, "seriesgate_samples_stored_ratio",
                "Of the accepted samples that were stored or failed in the last five minutes, the part that is stored.",
                from.counts().delivery.stored_share());
    write(out, read_process_stats());
    return out.take();
}

process_facts facts_of(const page_sources& from) {
    return {.version = version(),
            .uptime = std::chrono::duration_cast<std::chrono::seconds>(clock::now() - from.started)};
}

/// What decides about series that are not known in place of the limits, for now.
std::string_view decides_meanwhile(const gate_counts& of) {
    if (of.warm && of.warm->state == "reading") return "; but while the warm start reads, all series pass";
    if (of.shared && of.shared->state != "joined")
        return "; but the shared store gives no answer: shared.onUnavailable decides about limited series";
    return {};
}

std::string explain_text(const api_question& asked, const page_sources& from) {
    const auto series = read_series(asked.series);  // parsed again: the request only checked it
    const auto views = label_views(*series);
    const std::string tenant = asked.tenant.value_or("");
    const tenant_key key = tenant_key_of(tenant, from.key);
    label_hasher hasher{from.key, from.ignored_labels};
    const std::uint64_t ignored = hasher.ignores_any() ? hasher.ignored(views) : 0;
    const std::uint64_t plain = fingerprint_of(hasher(views), key);
    const std::uint64_t apart = fingerprint_of(hasher(views) + ignored, key);
    // As planner::apply_ignored_values_limit and keep_apart do, but from the remembered values.
    const bool became_known_apart = from.limiter.hour_has(apart) && !from.limiter.hour_has(plain);
    const bool is_apart =
        ignored != 0 && (became_known_apart || from.limiter.has_refused(ignored_value_of(ignored, key)));
    const offered_series offered{.fingerprint = is_apart ? apart : plain, .samples = 1, .admits = true};
    return explain_json(from.limiter, *series, tenant,
                        explain_series(from.limiter, offered, hasher.family(views, key, is_apart), views, tenant),
                        decides_meanwhile(from.counts()));
}

std::string suggestions_text(const api_question& asked, const page_sources& from) {
    const auto rules = from.limiter.rules();
    return suggestions_json(from.demand.suggest(from.limiter, from.now(), choice_of(asked)), *rules);
}

std::string findings_text(const api_question& asked, const page_sources& from) {
    status_facts facts{.now = std::chrono::floor<std::chrono::seconds>(from.now()),
                       .figures = figures_of_windows(from.limiter),
                       .counts = from.counts()};
    facts.samples = from.tracker.samples();
    facts.samples.admitted = facts.figures.hourly.series_current;
    facts.samples.ignored_labels = from.ignored_labels;
    facts.samples.rules = from.limiter.rules();
    facts.hours = from.tracker.hours();
    return findings_json(from.tracker, asked, facts);
}

constexpr std::size_t too_small_max = 3;

/// The overridden budget in which the series counts, or null.
const budget_figures* own_budget_of(const refused_series& one, const std::vector<const budget_figures*>& overridden) {
    const auto has_it = [&](const auto& label) {
        const auto found = std::ranges::find(one.labels, label.first, &series_labels::value_type::first);
        return (found == one.labels.end() ? std::string{} : readable(found->second)) == label.second;
    };
    const auto found = std::ranges::find_if(overridden, [&](const budget_figures* each) {
        const budget_name& name = each->name;
        return name.limit == one.limit && std::ranges::all_of(name.group, has_it) &&
               (!name.has_tenant || name.tenant == readable(one.tenant));
    });
    return found == overridden.end() ? nullptr : *found;
}

/// The suggestion for the limit that refused this series.
/// @param own see own_budget_of().
std::optional<suggestion> suggestion_for(const refused_series& one, const budget_figures* own,
                                         const page_sources& from) {
    budget_choice choice{.shown_max = 1};
    demand_scope scope = demand_scope::global;
    if (one.limit == own_limit_names[tenant_limit]) {
        choice = {.shown_max = 100, .tenant = readable(one.tenant)};
        scope = demand_scope::tenant;
    } else if (one.limit != own_limit_names[global_limit]) {
        choice.limit = one.limit;
        scope = demand_scope::limit;
    }
    if (own != nullptr) choice.shown_max = budget_choice{}.shown_max;
    const auto found = from.demand.suggest(from.limiter, from.now(), choice).shown;
    const auto at = std::ranges::find_if(found, [&](const suggestion& each) {
        if (own == nullptr) return each.scope == scope;
        return each.scope == demand_scope::group && each.name.group == own->name.group &&
               each.name.tenant == own->name.tenant;
    });
    return at == found.end() ? std::nullopt : std::optional{*at};
}

/// Limits that refused series this hour, of tenants whose refusals no explosion explains.
std::vector<too_small> too_small_limits(const status_facts& of, const page_sources& from) {
    if (of.growing.empty()) return {};
    const auto rules = from.limiter.rules();
    std::vector<const budget_figures*> overridden;
    for (const budget_figures& each : of.figures.limits)
        if (each.overridden) overridden.push_back(&each);
    std::set<std::string> seen;
    std::vector<too_small> made;
    for (const auto& each : of.refused) {
        if (each->when < of.figures.hourly.span.start || made.size() == too_small_max) break;
        if (!of.growing.contains(each->tenant)) continue;
        if (!refuses_series(each->limit)) continue;
        const budget_figures* const own = own_budget_of(*each, overridden);
        const bool is_tenants = each->limit == own_limit_names[tenant_limit];
        const std::string whose = is_tenants ? each->tenant : own != nullptr ? owner_text(own->name) : "";
        if (!seen.insert(each->limit + '\n' + whose).second) continue;
        const auto found = suggestion_for(*each, own, from);
        if (!found) continue;
        auto yaml = suggested_yaml(*rules, found->scope, found->name, found->to_write);
        if (!yaml) continue;
        const std::string owner = owner_text(found->name);
        made.push_back({.whose = owner.empty() ? "the global limit" : owner,
                        .hourly = found->hourly,
                        .daily = found->daily,
                        .active = found->active.value_or(window_suggestion{}),
                        .yaml = std::move(*yaml)});
    }
    return made;
}

std::string status_text(const page_sources& from) {
    status_facts facts{.process = facts_of(from),
                       .now = std::chrono::floor<std::chrono::seconds>(from.now()),
                       .figures = figures_of(from.limiter),
                       .counts = from.counts(),
                       .upkeep = from.upkeep()};
    add_cardinality(facts, from.tracker, from.refused, from.ignored_labels);
    facts.samples.rules = from.limiter.rules();
    facts.too_small_limits = too_small_limits(facts, from);
    return status_html(facts);
}

std::string stats_text(const budget_choice& asked, const page_sources& from) {
    const auto figures = figures_of(from.limiter, [&](const budget_name& each) { return asked.takes(each); });
    return stats_json(facts_of(from), from.counts(), figures, asked.shown_max) + "\n";
}

std::string text_of(const api_question& asked, const page_sources& from) {
    if (asked.path > api_path::stats) from.catch_up();
    switch (asked.path) {
        case api_path::metrics:
            return metrics_page(from);
        case api_path::stats:
            return stats_text(choice_of(asked), from);
        case api_path::status:
            return status_text(from);
        case api_path::top:
            return top_json(from.tracker, asked);
        case api_path::findings:
            return findings_text(asked, from);
        case api_path::explain:
            return explain_text(asked, from);
        case api_path::suggestions:
            return suggestions_text(asked, from);
        case api_path::refused:
            break;
    }
    return refused_json(from.refused, asked);
}

/// One cache for each page, by its api_path, and one for all parts, so that readers of one sort do not block the
/// others.
constexpr std::size_t caches_count = 4;

/// A fresh text if the cache has room, else the newest that is still held.
page_text find_page(const api_question& key, page_cache& cache, const page_sources& from) {
    const auto now = clock::now();
    if (!cache.has_room()) return cache.newest(key, now);
    auto text = std::make_shared<const std::string>(text_of(key, from));
    cache.put(key, text, now);
    return text;
}

std::size_t bytes_of(const api_question& asked) {
    const auto bytes = [](const std::optional<std::string>& text) { return text ? text->capacity() : 0; };
    return sizeof asked + bytes(asked.tenant) + bytes(asked.name) + asked.match.capacity() + asked.series.capacity();
}

}  // namespace

bool page_cache::has_room() {
    std::erase_if(entries_, [](const entry& each) { return each.text.expired(); });
    const auto held = std::accumulate(entries_.begin(), entries_.end(), std::size_t{0},
                                      [](std::size_t sum, const entry& each) { return sum + each.bytes; });
    return held < held_bytes_max;
}

page_text page_cache::newest(const api_question& key, time_point now) const {
    for (auto each = entries_.rbegin(); each != entries_.rend() && now - each->made <= age_max; ++each) {
        if (each->key != key) continue;
        if (auto text = each->text.lock()) return text;
    }
    return nullptr;
}

void page_cache::put(const api_question& key, const page_text& text, time_point now) {
    entries_.push_back({.key = key, .text = text, .bytes = text->capacity() + bytes_of(key), .made = now});
}

net::awaitable<void> make_pages(page_queue& asked, const page_sources& from) {
    async_timer rest{co_await net::this_coro::executor};  // a failure may have left no memory for one
    std::array<page_cache, caches_count> caches;
    for (;;) {
        const auto job = co_await asked.take();
        const api_question& key = job.key;
        page_cache& cache = caches[key.is_part() ? caches_count - 1 : static_cast<std::size_t>(key.path)];
        const auto used = thread_cpu_clock::now();
        try {
            job.give(find_page(key, cache, from));
        } catch (const std::exception& error) {  // out of memory: the waiting requests get 503 in the end
            log::error("figures could not be written", {{"err", error.what()}});
        }
        const clock::duration worked = thread_cpu_clock::now() - used;
        rest.expires_after(std::min(worked * rest_per_work, rest_max));
        co_await rest.async_wait(no_throw);
    }
}

}  // namespace seriesgate
