// The first section of the page (verdict, findings, warnings), and the charts.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "admin/delivery_record.hpp"
#include "admin/formatting.hpp"
#include "admin/status_page.hpp"
#include "cardinality/remedy.hpp"
#include "limit/explain.hpp"
#include "limit/rules.hpp"

namespace seriesgate {
namespace {

std::string new_series(series_count count) {
    return count_text(count.series, count.is_exact) + " new series";
}

/// What limits that only observe would have refused this hour, or today if the day's budget is spent, for the limit
/// with most: several limits may count the same series.
struct observed_refusals {
    series_count series{};
    std::string by{};
    std::string_view when{};
};

observed_refusals observed_now(const status_facts& of) {
    observed_refusals most;
    const auto look = [&](const budget_figures& each) {
        const bool observes = of.figures.mode == limit_mode::observe || each.mode == limit_mode::observe;
        if (!observes || !refuses_series(each.name.limit)) return;
        const budget_window_figures* const day = each.daily.is_spent() ? &each.daily : nullptr;
        for (const budget_window_figures* const window : {&each.hourly, day, each.active ? &*each.active : nullptr}) {
            if (window == nullptr || window->series_refused <= most.series.series) continue;
            const std::string owner = owner_text(each.name);
            most = {.series = {window->series_refused, window->refused_is_exact},
                    .by = owner.empty() ? "the global limit" : owner,
                    .when = window == day ? "today" : "this hour"};
        }
    };
    look(of.figures.global);
    for (const auto* const all : {&of.figures.tenants, &of.figures.limits})
        for (const budget_figures& each : *all) look(each);
    return most;
}

std::string observed_text(const observed_refusals& most) {
    return fmt::format("{} would be refused by {}", new_series(most.series), most.by);
}

/// Whether an enforcing limit has refused series in its window, and has no room.
bool is_any_spent(const limiter_figures& of) {
    const auto is_spent = [](const budget_figures& each) {
        if (each.mode != limit_mode::enforce || !refuses_series(each.name.limit)) return false;
        return std::ranges::any_of(std::array{&each.hourly, &each.daily, each.active ? &*each.active : nullptr},
                                   [](const auto* in) { return in && in->series_refused != 0 && in->is_spent(); });
    };
    return is_spent(of.global) || std::ranges::any_of(of.tenants, is_spent) || std::ranges::any_of(of.limits, is_spent);
}

bool is_warming(const status_facts& of) noexcept {
    return of.counts.warm && of.counts.warm->state == "reading";
}

/// Longer than a usual pause between two scrapes.
constexpr auto refused_lately = std::chrono::seconds{90};

std::string consequence_html(const status_facts& of) {
    const bool observes = of.figures.mode == limit_mode::observe;
    const window_figures& hour = of.figures.hourly;
    const window_figures& day = of.figures.daily;
    if (observes)
        return observed_now(of).series.series > 0 ? "With <code>mode: enforce</code> they would not reach the store."
                                                  : "Every series reaches the store, whatever the limits are.";
    if (!is_withholding(of)) {
        if (!is_warming(of) && refused_now(of).series > 0) return "New series find room again.";
        const series_count before = refused_before(of);
        if (before.series > 0) return fmt::format("{} were refused earlier today.", new_series(before));
        const observed_refusals most = observed_now(of);
        if (most.series.series > 0) return escaped(fmt::format("{}, which only observes.", observed_text(most)));
        return fmt::format("No limit is in the way of the {} of this hour.",
                           counted(hour.series_current, "series", "series"));
    }
    std::string out = "They do not reach the store; what was known before flows on.";
    if (const auto last = of.counts.delivery.last_refused)
        out += fmt::format(" Samples were last refused {} ago.",
                           duration_text(std::max(of.now - *last, std::chrono::seconds{0})));
    if (hour.series_refused > 0) out += fmt::format(" The hour&#39;s limits reset at {}.", moment_html(hour.span.end));
    if (day.series_refused > 0) out += fmt::format(" The day&#39;s reset at {}.", moment_html(day.span.end));
    if (of.figures.active && of.figures.active->series_refused > 0)
        out += " Limits of active series have room again as others go idle.";
    return out;
}

/// The limits without room, those with most of the last refused series first.
std::string reasons_html(const status_facts& of) {
    std::map<std::string, std::size_t> counts;
    for (const auto& each : of.refused)
        if (each->when >= of.figures.hourly.span.start) ++counts[reason_of(*each)];
    std::vector<std::pair<std::string, std::size_t>> sorted{counts.begin(), counts.end()};
    std::ranges::stable_sort(sorted, std::ranges::greater{}, &std::pair<std::string, std::size_t>::second);
    constexpr std::size_t shown_max = 3;
    if (sorted.size() > shown_max) sorted.resize(shown_max);
    std::string out;
    for (const auto& [reason, count] : sorted)
        out += fmt::format("{}<bdi>{}</bdi>", out.empty() ? "" : "; ", escaped(cut(reason, 200)));
    return out.empty() || !is_withholding(of) ? "" : fmt::format("<p>Why: {}.</p>\n", out);
}

std::vector<std::string> warnings_of(const status_facts& of) {
    std::vector<std::string> made;
    if (is_warming(of))
        made.push_back(
            fmt::format("A warm start reads the store, {} of {} metric names so far. Until its end nothing is refused.",
                        of.counts.warm->names_read, of.counts.warm->names));
    else if (of.counts.warm && (of.counts.warm->state == "incomplete" || of.counts.warm->state == "failed"))
        made.emplace_back(
            "The warm start has not read all series of the store; the others are new to the gate. The log has more.");
    if (of.figures.clock_in_doubt) made.emplace_back("The clock has leapt by over an hour and is not believed yet.");
    for (const store_counts& store : of.counts.stores)
        for (const backend_counts& backend : store.backends)
            if (!backend.is_up) made.push_back(fmt::format("The store {} does not answer.", cut(backend.name, 200)));
    if (of.counts.shared && of.counts.shared->state != "joined")
        made.push_back(fmt::format("The store that the fleet counts in: {}.", of.counts.shared->state));
    if (!of.upkeep.reload_successful)
        made.emplace_back("The last reload found a mistake: what was in force before still is. The log has more.");
    if (!of.upkeep.web_config_successful)
        made.emplace_back(
            "The web configuration file, or a file that it names, is not in force as it is. The log has more.");
    constexpr std::size_t shown_max = 20;
    if (made.size() > shown_max) made.resize(shown_max);
    return made;
}

std::string warnings_html(const status_facts& of) {
    std::string items;
    for (const std::string& each : warnings_of(of)) items += "<li>" + escaped(each) + "</li>\n";
    return items.empty() ? items : "<ul class=\"warnings\">\n" + items + "</ul>\n";
}

constexpr std::size_t pasted_bytes_max = 2'500, sentence_bytes_max = 500;

/// Text to paste, with a button to copy it if scripts run.
/// @param elsewhere where it stands, too.
std::string paste_html(std::string_view id, std::string_view title, std::string_view where, std::string_view yaml,
                       std::string_view elsewhere) {
    if (yaml.empty()) return {};
    const std::string shown = escaped(yaml);
    if (shown.size() > pasted_bytes_max)
        return fmt::format("<p><a href=\"{}\">{}</a>: too long to be shown here.</p>\n", elsewhere, title);
    return fmt::format(
        "<div class=\"paste\">\n<div class=\"row\"><h4 id=\"{0}-title\">{1}</h4> "
        "<button type=\"button\" hidden id=\"{0}-copy\" data-copies=\"{0}\" "
        "aria-describedby=\"{0}-title\">Copy</button>"
        "</div>\n<p class=\"quiet\">{2}</p>\n<pre id=\"{0}\" tabindex=\"0\" aria-labelledby=\"{0}-title\">{3}</pre>\n"
        "</div>\n",
        id, title, where, shown);
}

constexpr std::string_view at_the_sender =
    "below <code>metric_relabel_configs:</code> of the scrape job, or <code>write_relabel_configs:</code> of the "
    "<code>remote_write</code>";
constexpr std::string_view at_the_gate =
    "below <code>limits:</code> of the gate&#39;s configuration: then it spends nobody else&#39;s room";

std::string sentence(std::string text) {
    if (!text.empty() && text.front() >= 'a' && text.front() <= 'z')
        text.front() = static_cast<char>(text.front() - 'a' + 'A');
    return text + '.';
}

std::string remedies_html(const finding& found, const sampled& samples, std::string_view id) {
    const remedy stop = remedy_of(found, samples);
    const std::string note = fmt::format("<p class=\"quiet\">{}</p>\n", escaped(sentence(stop.note)));
    if (stop.relabel.empty() && stop.limit.empty()) return note;
    const std::string_view elsewhere = id.starts_with("day") ? "api/v1/findings?window=daily" : "api/v1/findings";
    return note + "<div class=\"remedies\">\n" +
           paste_html(fmt::format("{}-relabel", id), "Stop it at the sender", at_the_sender, stop.relabel, elsewhere) +
           paste_html(fmt::format("{}-limit", id), "Give it a limit of its own", at_the_gate, stop.limit, elsewhere) +
           "</div>\n";
}

/// Shows the remedy for the worst finding at once, for others on request.
std::string finding_html(const finding& found, const sampled& samples, std::string_view id, bool is_worst) {
    std::string out = fmt::format("<li class=\"finding{}\">\n<p class=\"culprit\"><bdi>{}</bdi></p>\n",
                                  found.over_since ? " over" : "", escaped(cut(to_text(found), sentence_bytes_max)));
    if (found.refused > 0 && found.what != explosion::growth)  // its text contains the number
        out += fmt::format("<p><strong class=\"bad\">{}</strong> of these series were refused.</p>\n",
                           count_text(found.refused, found.is_exact));
    if (is_worst) return out + remedies_html(found, samples, id) + "</li>\n";
    return out + fmt::format("<details id=\"{}\"><summary>What stops it</summary>\n{}</details>\n</li>\n", id,
                             remedies_html(found, samples, id));
}

std::string findings_html(const std::vector<finding>& all, const sampled& samples, std::string_view title,
                          std::string_view id) {
    if (all.empty()) return {};
    std::string out = fmt::format("<h3>{}</h3>\n<ol class=\"findings\">\n", title);
    for (std::size_t i = 0; i < all.size(); ++i)
        out += finding_html(all[i], samples, fmt::format("{}-{}", id, i + 1), i == 0);
    return out + "</ol>\n";
}

/// For example `maxHourlySeries from 1,000 to 1,800`, for windows whose limit is too small.
std::string raised_text(const too_small& of) {
    std::string text;
    for (const auto& [key, window] : {std::pair{"maxHourlySeries", &of.hourly}, std::pair{"maxDailySeries", &of.daily},
                                      std::pair{"maxActiveSeries", &of.active}}) {
        const std::uint64_t wanted = window->suggested.value_or(0);
        if (window->series_max == 0 || wanted <= window->series_max) continue;
        text += fmt::format("{}{} from {} to {}", text.empty() ? "" : ", ", key, grouped(window->series_max),
                            grouped(wanted));
    }
    return text;
}

std::string too_small_html(const status_facts& of) {
    std::string out;
    for (std::size_t i = 0; i < of.too_small_limits.size(); ++i) {
        const too_small& each = of.too_small_limits[i];
        const std::string raised = raised_text(each);
        if (raised.empty()) continue;
        out += paste_html(fmt::format("raise-{}", i + 1),
                          escaped(fmt::format("Raise {}: {}", cut(each.whose, 200), raised)),
                          "in the gate&#39;s configuration, if the store has room: one and a half times the highest "
                          "demand of an hour that is known, one and a quarter times that of a day, or of active series",
                          each.yaml, "api/v1/suggestions?limit=1000");
    }
    return out.empty() ? out : "<h3>Where a limit is too small</h3>\n<div class=\"remedies\">\n" + out + "</div>\n";
}

std::string no_finding_html(const status_facts& of) {
    if (!is_withholding(of) || !of.of_hour.empty()) return {};
    return "<p>No single label explains it: <a href=\"#top\">who has the most series</a>, and "
           "<a href=\"#refused\">which were refused</a>.</p>\n";
}

using namespace std::chrono_literals;

constexpr std::size_t shown_hours = 24;
constexpr std::uint64_t height = 100, slot_width = 20, bar_width = 16;

/// The last 24 hours, including those when the gate did not run.
using day_of_hours = std::array<hour_counts, shown_hours>;

day_of_hours last_hours(const status_facts& of) {
    day_of_hours made{};
    const auto first = of.figures.hourly.span.start - std::chrono::hours{shown_hours - 1};
    for (std::size_t i = 0; i < shown_hours; ++i) made[i].start = first + std::chrono::hours{i};
    for (const hour_counts& each : of.hours) {
        const auto at = (each.start - first) / 1h;
        if (at >= 0 && at < std::ptrdiff_t{shown_hours}) made[static_cast<std::size_t>(at)] = each;
    }
    if (of.figures.mode == limit_mode::observe) return made;
    const series_count now = refused_now(of);  // the same number as elsewhere on the page
    made.back().refused = now.series;
    made.back().is_exact = made.back().is_exact && now.is_exact;
    return made;
}

std::string hour_text(std::chrono::sys_seconds moment) {
    return fmt::format("{:%H:%M}", fmt::gmtime(moment));
}

/// At least one unit, so that small counts stay visible.
std::uint64_t high(std::uint64_t count, std::uint64_t most) {
    if (count == 0 || most == 0) return 0;
    return std::max<std::uint64_t>(1,
                                   static_cast<std::uint64_t>(static_cast<double>(height) * static_cast<double>(count) /
                                                              static_cast<double>(most)));
}

std::string bars_svg(const hour_counts& hour, std::size_t place, std::uint64_t most) {
    const std::uint64_t refused = high(hour.refused, most);
    const std::uint64_t newly_admitted = std::min(height - refused, high(hour.newly_admitted, most));
    const std::uint64_t x = place * slot_width + (slot_width - bar_width) / 2;
    return fmt::format(
        "<g><title>{} UTC: {} new, {} refused</title><rect class=\"slot\" x=\"{}\" width=\"{}\" height=\"{}\"/>"
        "<rect class=\"new\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>"
        "<rect class=\"refused\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></g>\n",
        hour_text(hour.start), count_text(hour.newly_admitted, hour.is_exact), count_text(hour.refused, hour.is_exact),
        place * slot_width, slot_width, height, x, height - newly_admitted, bar_width, newly_admitted, x,
        height - newly_admitted - refused, bar_width, refused);
}

}  // namespace

/// Not any more if a limit was raised: its refusals count to the end of its window.
bool is_withholding(const status_facts& of) noexcept {
    if (of.figures.mode != limit_mode::enforce || is_warming(of) || refused_now(of).series == 0) return false;
    const auto last = of.counts.delivery.last_refused;
    return is_any_spent(of.figures) || (last && of.now - *last <= refused_lately);
}

std::string verdict_text(const status_facts& of) {
    const series_count refused = refused_now(of);
    if (is_withholding(of)) return fmt::format("Data is withheld: {} refused this hour", new_series(refused));
    if (of.figures.mode == limit_mode::enforce && (refused.series == 0 || is_warming(of)))
        return "Nothing is refused this hour";
    if (of.figures.mode == limit_mode::enforce)
        return fmt::format("Nothing is refused now: {} were, earlier this hour", new_series(refused));
    const observed_refusals most = observed_now(of);
    if (most.series.series == 0) return "The gate observes, and nothing would be refused this hour";
    return fmt::format("The gate observes: {} {}", observed_text(most), most.when);
}

std::string now_section(const status_facts& of) {
    return fmt::format(
               "<section id=\"now\" data-part class=\"{}\" aria-labelledby=\"verdict\">\n<h2 id=\"verdict\">{}</h2>\n"
               "<p class=\"{}\">{}.</p>\n<p>{}</p>\n",
               is_withholding(of) || of.counts.delivery.nothing_since ? "withheld" : "well", escaped(verdict_text(of)),
               of.counts.delivery.nothing_since ? "bad" : "delivery", escaped(to_text(of.counts.delivery)),
               consequence_html(of)) +
           reasons_html(of) + warnings_html(of) + no_finding_html(of) +
           findings_html(of.of_hour, of.samples, "What has exploded this hour", "hour") + too_small_html(of) +
           findings_html(of.of_day, of.samples, "Further ones today", "day") + "</section>\n";
}

std::string hours_chart(const status_facts& of) {
    const day_of_hours hours = last_hours(of);
    std::uint64_t most = 0, newly_admitted = 0, refused = 0;
    bool is_exact = true;
    for (const hour_counts& each : hours) {
        is_exact = is_exact && each.is_exact;
        most = std::max(most, each.newly_admitted + each.refused);
        newly_admitted += each.newly_admitted;
        refused += each.refused;
    }
    std::string out = fmt::format(
        "<figure class=\"card chart\">\n<figcaption><h3>New and refused series, by hour</h3> "
        "<span class=\"key\"><i class=\"new\"></i>{} new</span> <span class=\"key\"><i class=\"refused\"></i>{} refused"
        "</span></figcaption>\n<svg viewBox=\"0 0 {} {}\" preserveAspectRatio=\"none\" role=\"img\" "
        "aria-label=\"{} new and {} refused series in the last 24 hours, at most {} in an hour\">\n",
        count_text(newly_admitted, is_exact), count_text(refused, is_exact), shown_hours * slot_width, height,
        count_text(newly_admitted, is_exact), count_text(refused, is_exact), count_text(most, is_exact));
    for (std::size_t i = 0; i < shown_hours; ++i) out += bars_svg(hours[i], i, most);
    return out + fmt::format(
                     "</svg>\n<p class=\"axis\"><span>{}</span><span>up to {} an hour</span><span>{} UTC</span>"
                     "</p>\n</figure>\n",
                     hour_text(hours.front().start), count_text(most, is_exact), hour_text(hours.back().start));
}

std::string minutes_chart(const status_facts& of) {
    const auto& refused = of.counts.delivery.refused_by_minute;
    const std::uint64_t all = std::accumulate(refused.begin(), refused.end(), std::uint64_t{0});
    if (all == 0) return {};
    const std::uint64_t most = *std::ranges::max_element(refused);
    const auto first = std::chrono::floor<std::chrono::minutes>(of.now) - std::chrono::minutes{refused.size() - 1};
    std::string out = fmt::format(
        "<figure class=\"card chart\">\n<figcaption><h3>Refused samples, by minute</h3> <span class=\"key\"><i "
        "class=\"refused\"></i>{0} in the last hour</span></figcaption>\n<svg viewBox=\"0 0 {1} {2}\" "
        "preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{0} samples refused in the last hour, at most {3} in a "
        "minute, {4} in the last one\">\n",
        grouped(all), refused.size() * slot_width, height, grouped(most), grouped(refused.back()));
    for (std::size_t i = 0; i < refused.size(); ++i) {
        const std::uint64_t high_by = high(refused[i], most);
        out += fmt::format(
            "<g><title>{} UTC: {}</title><rect class=\"slot\" x=\"{}\" width=\"{}\" height=\"{}\"/>"
            "<rect class=\"refused\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></g>\n",
            hour_text(first + std::chrono::minutes{i}), counted(refused[i], "sample refused", "samples refused"),
            i * slot_width, slot_width, height, i * slot_width + (slot_width - bar_width) / 2, height - high_by,
            bar_width, high_by);
    }
    return out + fmt::format(
                     "</svg>\n<p class=\"axis\"><span>{}</span><span>up to {} a minute</span><span>{} UTC</span>"
                     "</p>\n</figure>\n",
                     hour_text(first), grouped(most), hour_text(of.now));
}

}  // namespace seriesgate
