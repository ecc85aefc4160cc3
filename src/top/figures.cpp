#include "top/figures.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <ctime>
#include <exception>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "core/text.hpp"

namespace seriesgate::top {
namespace {

namespace json = boost::json;

/// No screen shows longer texts, and each frame copies them.
constexpr std::size_t text_bytes_max = 8 * 1024;

std::string bounded(std::string_view text) {
    return without_middle(text, {.head = text_bytes_max / 2, .tail = text_bytes_max / 2}, "...");
}

/// The functions below throw std::exception if a value is missing or has another type.

std::string text_at(const json::object& in, std::string_view key) {
    const json::string& found = in.at(key).as_string();
    return bounded({found.data(), found.size()});
}

std::string text_if(const json::object& in, std::string_view key) {
    return in.contains(key) ? text_at(in, key) : std::string{};
}

/// Empty if missing or null.
std::string text_or_null(const json::object& in, std::string_view key) {
    return in.contains(key) && !in.at(key).is_null() ? text_at(in, key) : std::string{};
}

std::uint64_t number_at(const json::object& in, std::string_view key) {
    return in.at(key).to_number<std::uint64_t>();
}

/// `2026-01-01T10:00:00Z`
std::chrono::sys_seconds time_at(const json::object& in, std::string_view key) {
    std::tm parts{};
    const std::string text = text_at(in, key);
    if (::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts) == nullptr) throw std::invalid_argument{"not a time"};
    return std::chrono::sys_seconds{std::chrono::seconds{::timegm(&parts)}};
}

/// Older gates do not say; they counted up to a thousand exactly.
bool counts_exactly(const json::object& window) {
    if (window.contains("refusedSeriesExact")) return window.at("refusedSeriesExact").as_bool();
    return number_at(window, "refusedSeries") < 1'000;
}

window_figures window_of(const json::object& from) {
    return {.series_max = number_at(from, "maxSeries"),
            .series = number_at(from, "currentSeries"),
            .refused = number_at(from, "refusedSeries"),
            .refused_is_exact = counts_exactly(from),
            .end = from.contains("end") ? time_at(from, "end") : std::chrono::sys_seconds{}};
}

/// `name{label=value} of tenant`
std::string limit_name(const json::object& from) {
    std::string name = text_at(from, "name");
    std::string group;
    for (const auto& [label, value] : from.at("group").as_object()) {
        group.append(group.empty() ? "" : ", ").append(label).append("=");
        group.append(value.as_string().data(), value.as_string().size());
    }
    if (!group.empty()) name += "{" + group + "}";
    if (from.contains("tenant")) name += " of tenant " + text_at(from, "tenant");
    return bounded(name);
}

std::string tenant_name(const json::object& from) {
    const std::string name = text_at(from, "tenant");
    return name.empty() ? "no tenant" : "tenant " + name;
}

count_window window_called(std::string_view name) {
    return name == "daily" ? count_window::day : name == "active" ? count_window::active : count_window::hour;
}

/// The limits that leave the decision to others: they refuse nothing themselves.
bool refuses_series(const json::object& limit) {
    const std::string name = text_if(limit, "name");
    return name != "exempt" && name != "ignored-values";
}

void add_budget(std::vector<budget_figures>& to, const json::object& from, const std::string& name) {
    for (const auto& [kind, key] :
         {std::pair{count_window::hour, "hourly"}, {count_window::day, "daily"}, {count_window::active, "active"}}) {
        if (kind == count_window::active && !from.contains(key)) continue;
        budget_figures one{.name = name,
                           .window = kind,
                           .observes = text_at(from, "mode") == "observe",
                           .refuses = refuses_series(from),
                           .counts = window_of(from.at(key).as_object()),
                           .note = text_if(from, "note")};
        if (!one.refuses) one.counts.refused = 0;
        if (one.counts.series_max != 0) to.push_back(std::move(one));
    }
}

std::vector<budget_figures> budgets_of(const json::object& from) {
    std::vector<budget_figures> all;
    for (const json::value& each : from.at("tenants").as_array())
        add_budget(all, each.as_object(), tenant_name(each.as_object()));
    for (const json::value& each : from.at("limits").as_array())
        add_budget(all, each.as_object(), limit_name(each.as_object()));
    const auto rank = [](const budget_figures& one) {
        return std::tuple{static_cast<double>(one.counts.series) / static_cast<double>(one.counts.series_max),
                          one.counts.refused};
    };
    std::ranges::stable_sort(all, std::ranges::greater{}, rank);
    return all;
}

/// Older gates do not say how many there are.
std::uint64_t listed_of_more(const json::object& from) {
    std::uint64_t listed = 0;
    bool has_more = false;
    for (const auto& [list, total] : {std::pair{"tenants", "tenantsTotal"}, {"limits", "limitsTotal"}}) {
        const std::uint64_t shown = from.at(list).as_array().size();
        listed += shown;
        has_more = has_more || (from.contains(total) && number_at(from, total) > shown);
    }
    return has_more ? listed : 0;
}

std::vector<backend> backends_of(const json::object& from) {
    std::vector<backend> all;
    for (const json::value& each : from.at("upstreams").as_array()) {
        const json::object& store = each.as_object();
        for (const json::value& one : store.at("doors").as_array()) {
            const json::object& of = one.as_object();
            all.push_back({.store = text_at(store, "store"),
                           .name = text_at(of, "door"),
                           .is_up = of.at("up").as_bool(),
                           .in_flight = number_at(of, "inFlight"),
                           .waiting = number_at(store, "waiting"),
                           .requests = number_at(of, "requests"),
                           .errors = number_at(of, "errors")});
        }
    }
    std::ranges::stable_sort(all, {}, &backend::is_up);
    return all;
}

std::string entry_detail(const json::object& from, std::string_view by) {
    if (by == "sender") return text_at(from, "userAgent");
    if (by != "label") return "";
    const std::string tenant = text_if(from, "tenant");
    return "of " + text_at(from, "metric") + (tenant.empty() ? "" : ", tenant " + tenant);
}

/// In PromQL's form. The gate has escaped everything but quotes.
std::string series_text(const json::object& labels) {
    std::string name;
    std::string inner;
    for (const auto& [label, value] : labels) {
        const json::string& text = value.as_string();
        if (label == "__name__") {
            name.assign(text.data(), text.size());
            continue;
        }
        inner.append(inner.empty() ? "" : ",").append(label).append("=\"");
        for (const char each : text) inner.append(each == '"' ? "\\" : "").append(1, each);
        inner += '"';
    }
    return bounded(inner.empty() && !name.empty() ? name : name + "{" + inner + "}");
}

template <class Take>
std::string understood(std::string_view path, Take take) try {
    take();
    return "";
} catch (const std::exception&) {
    return std::string{path} + ": the answer is not that of a seriesgate";
}

template <class Item, class Make>
std::string take_list(std::vector<Item>& into, std::string_view path, std::string_view text, Make make) {
    return understood(path, [&] {
        std::vector<Item> all;
        const json::value parsed = json::parse(text);
        for (const json::value& each : parsed.as_object().at("data").as_array()) all.push_back(make(each.as_object()));
        into = std::move(all);
    });
}

}  // namespace

std::string take_stats(figures& into, std::string_view text) {
    return understood("/stats", [&] {
        const json::value parsed = json::parse(text);
        const json::object& from = parsed.as_object();
        into.version = text_at(from, "version");
        into.uptime = std::chrono::seconds{from.at("uptimeSeconds").to_number<std::int64_t>()};
        into.mode = text_at(from, "mode");
        into.clock_in_doubt = from.at("clockInDoubt").as_bool();
        into.shared = from.contains("shared") ? text_at(from.at("shared").as_object(), "state") : "";
        const json::object& windows = from.at("windows").as_object();
        into.hourly = window_of(windows.at("hourly").as_object());
        into.daily = window_of(windows.at("daily").as_object());
        into.active.reset();
        if (windows.contains("active")) into.active = window_of(windows.at("active").as_object());
        into.last_refused.reset();
        if (from.contains("refusals") && !from.at("refusals").as_object().at("lastRefused").is_null())
            into.last_refused = time_at(from.at("refusals").as_object(), "lastRefused");
        into.budgets = budgets_of(from);
        into.listed = listed_of_more(from);
        into.backends = backends_of(from);
    });
}

std::string take_findings(figures& into, std::string_view text) {
    return take_list(into.findings, "/api/v1/findings", text, [](const json::object& from) -> finding {
        const json::object& remedy = from.at("remedy").as_object();
        return {.text = text_at(from, "text"),
                .relabel = text_at(remedy, "relabel"),
                .limit = text_at(remedy, "limit"),
                .note = text_if(remedy, "note"),
                .is_over = !text_or_null(from, "overSince").empty()};
    });
}

std::string take_top_entries(figures& into, std::string_view text, std::string_view by) {
    return take_list(into.top, "/api/v1/top", text, [by](const json::object& from) -> top_entry {
        return {.value = text_at(from, "value"),
                .detail = entry_detail(from, by),
                .values = by == "label" ? number_at(from, "distinctValues") : 0,
                .series = number_at(from, "series"),
                .error = number_at(from, "error"),
                .last_seen = time_at(from, "lastSeen")};
    });
}

std::string take_refused(figures& into, std::string_view text) {
    return take_list(into.refused, "/api/v1/refused", text, [](const json::object& from) -> refused_series {
        return {.series = series_text(from.at("labels").as_object()),
                .tenant = text_at(from, "tenant"),
                .sender = text_at(from, "sender"),
                .limit = text_at(from, "limit"),
                .window = window_called(text_at(from, "window")),
                .when = time_at(from, "time")};
    });
}

std::string error_in(std::string_view text) try {
    const json::value parsed = json::parse(text);
    return text_at(parsed.as_object(), "error");
} catch (const std::exception&) {
    return "";
}

}  // namespace seriesgate::top
