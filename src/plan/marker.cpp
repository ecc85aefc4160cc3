#include "plan/marker.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "limit/explain.hpp"
#include "limit/rules.hpp"
#include "series/label.hpp"
#include "wire/decompression.hpp"
#include "wire/sample_records.hpp"

namespace seriesgate {
namespace {

using tenant_names = std::set<std::string_view>;

/// Cuts between two characters.
std::string cut(std::string text) {
    constexpr std::string_view mark = "...";
    if (text.size() <= marker_text_bytes_max) return text;
    return without_middle(text, {.head = marker_text_bytes_max - mark.size(), .tail = 0}, mark);
}

struct spent_window {
    const budget_figures* budget;
    std::string_view limit;
    refusing_window window;
    std::uint64_t series_refused;
};

/// The windows with refusals and no room; most refused series first.
std::vector<spent_window> find_spent(const limiter_figures& figures) {
    std::vector<spent_window> found;
    const auto look_at = [&](const budget_figures& each, std::string_view limit) {
        if (each.mode != limit_mode::enforce || !refuses_series(limit)) return;
        for (const auto window : {refusing_window::hourly, refusing_window::daily, refusing_window::active}) {
            if (window == refusing_window::active && !each.active) continue;
            const budget_window_figures& of = in_window(each, window);
            if (of.series_refused != 0 && of.is_spent()) found.push_back({&each, limit, window, of.series_refused});
        }
    };
    look_at(figures.global, own_limit_names[global_limit]);
    for (const budget_figures& each : figures.tenants) look_at(each, own_limit_names[tenant_limit]);
    for (const budget_figures& each : figures.limits) look_at(each, each.name.limit);
    std::ranges::stable_sort(found, std::greater{}, &spent_window::series_refused);
    return found;
}

/// Tenants with refused series in one window.
class hurt_tenants {
    std::map<std::string_view, tenant_names> by_limit_;
    tenant_names all_;
    std::map<std::string, std::string_view, std::less<>> by_shown_name_;

  public:
    hurt_tenants(std::span<const refused_tenant> refused, time_point since) {
        for (const refused_tenant& each : refused) {
            if (each.last < since || each.limit == own_limit_names[unknown_limit]) continue;
            by_limit_[each.limit].insert(each.tenant);
            if (all_.insert(each.tenant).second) by_shown_name_.emplace(readable(each.tenant), each.tenant);
        }
    }

    [[nodiscard]] const tenant_names& by(std::string_view limit) const {
        const auto found = by_limit_.find(limit);
        return found == by_limit_.end() ? all_ : found->second;
    }
    /// @param shown the tenant's name in the figures.
    [[nodiscard]] tenant_names named(std::string_view shown) const {
        const auto found = by_shown_name_.find(shown);
        return found == by_shown_name_.end() ? tenant_names{} : tenant_names{found->second};
    }
};

/// The tenants under which to write a budget's marker.
/// @param with_own names, as in the figures, of tenants with their own budget.
tenant_names addressees_of(const spent_window& spent, const hurt_tenants& hurt, const tenant_names& with_own) {
    const budget_name& name = spent.budget->name;
    if (name.has_tenant && !name.overflow) return hurt.named(name.tenant);
    tenant_names found = hurt.by(spent.limit);
    if (name.has_tenant)
        std::erase_if(found, [&](std::string_view tenant) { return with_own.contains(readable(tenant)); });
    return found;
}

marker_name name_of(const spent_window& spent, std::string_view tenant) {
    const budget_name& name = spent.budget->name;
    return {.tenant = std::string{tenant},
            .limit = cut(repaired_utf8(spent.limit)),
            .group = cut(repaired_utf8(group_text(name))),
            .of_tenant = cut(name.has_tenant ? repaired_utf8(name.tenant) : std::string{}),
            .window = spent.window};
}

constexpr std::string_view metric = "seriesgate_series_refused";

std::vector<label_view> labels_of(const marker_name& name, std::string_view gate) {
    std::vector<label_view> labels{{"__name__", metric},       {"gate", gate},
                                   {"group", name.group},      {"limit", name.limit},
                                   {"tenant", name.of_tenant}, {"window", to_text(name.window)}};
    std::erase_if(labels, [](const label_view& each) { return each.value.empty(); });
    return labels;
}

/// How long Prometheus and compatible stores treat a sample as current (query.lookback-delta).
constexpr auto looked_back = std::chrono::minutes{5};

}  // namespace

marker_values find_withheld(const limiter_figures& figures, std::span<const refused_tenant> refused) {
    marker_values found;
    const std::vector<spent_window> all = find_spent(figures);
    if (all.empty()) return found;
    const hurt_tenants hourly{refused, figures.hourly.span.start}, daily{refused, figures.daily.span.start};
    tenant_names with_own;
    for (const budget_figures& each : figures.tenants)
        if (!each.name.overflow) with_own.insert(each.name.tenant);
    for (const spent_window& spent : all) {
        const hurt_tenants& hurt = spent.window == refusing_window::daily ? daily : hourly;
        for (const std::string_view tenant : addressees_of(spent, hurt, with_own)) {
            found.emplace(name_of(spent, tenant), spent.series_refused);  // keeps the larger value that is there
            if (found.size() == markers_max) return found;
        }
    }
    return found;
}

std::string encode(const marker_request& request, std::string_view gate) {
    std::string raw;
    for (const marker_sample& each : request.samples) {
        assert(each.name.tenant == request.tenant);
        const auto value = static_cast<double>(each.series_refused.value_or(0));
        append_series(raw, labels_of(each.name, gate),
                      each.series_refused ? std::bit_cast<std::uint64_t>(value) : stale_marker_bits, each.timestamp);
    }
    decode_buffer room;
    std::string body;
    snappy_encode(raw, room, body);
    return body;
}

std::vector<marker_request> written_markers::next(const marker_values& values, time_point now) {
    std::erase_if(written_, [&](const auto& each) { return now - each.second.last_value > looked_back; });
    const std::int64_t now_ms = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count();
    std::map<marker_name, std::optional<std::uint64_t>> due(values.begin(), values.end());
    for (const auto& [name, last] : written_) due.try_emplace(name, std::nullopt);
    std::vector<marker_request> requests;
    for (const auto& [name, series_refused] : due) {  // in order of tenants
        const auto before = written_.find(name);
        const std::int64_t timestamp = before == written_.end() ? now_ms : std::max(now_ms, before->second.last + 1);
        if (requests.empty() || requests.back().tenant != name.tenant)
            requests.push_back({.tenant = name.tenant, .samples = {}});
        requests.back().samples.push_back({.name = name, .series_refused = series_refused, .timestamp = timestamp});
    }
    if (!last_tenant_) return requests;
    const auto first = std::ranges::upper_bound(requests, *last_tenant_, {}, &marker_request::tenant);
    std::rotate(requests.begin(), first, requests.end());
    return requests;
}

void written_markers::sent(const marker_request& request, bool is_taken, time_point now) {
    for (const marker_sample& each : request.samples) {
        if (each.series_refused)
            written_.insert_or_assign(each.name, written{.last = each.timestamp, .last_value = now});
        else if (is_taken)
            written_.erase(each.name);
        else if (const auto found = written_.find(each.name); found != written_.end())
            found->second.last = each.timestamp;
    }
}

}  // namespace seriesgate
