#include "top/frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <string_view>
#include <utility>

namespace seriesgate::top {

std::uint64_t percent(std::uint64_t part, std::uint64_t whole) {
    if (whole == 0) return 0;
    return static_cast<std::uint64_t>(
        std::min(100.0L * static_cast<long double>(part) / static_cast<long double>(whole), 999.0L));
}

std::string bar(std::uint64_t part, std::uint64_t whole, std::size_t columns) {
    assert(columns >= 2);
    const std::size_t room = columns - 2;
    const std::size_t filled = std::min<std::size_t>(room, percent(part, whole) * room / 100);
    return std::string{"["}.append(filled, '#').append(room - filled, '-').append("]");
}

namespace {

struct content {
    std::string heading;
    std::vector<line> lines{};
    std::size_t lines_min = 1;  ///< wanted before other parts get more
};

constexpr std::size_t number_columns = 11;
constexpr std::size_t clock_columns = 8;
constexpr std::size_t bar_columns_min = 6;
constexpr std::size_t bar_columns_max = 32;
constexpr std::size_t budget_bar_columns = 12;
constexpr std::size_t percent_columns = 8;  // of add_bar
/// Names are never shorter, if the screen has this many columns.
constexpr std::size_t name_columns_min = 16;

/// `10:04:07`, in UTC like all output of the gate.
std::string clock_text(std::chrono::sys_seconds when) {
    const std::chrono::hh_mm_ss time{when - std::chrono::floor<std::chrono::days>(when)};
    return fmt::format("{:02}:{:02}:{:02}", time.hours().count(), time.minutes().count(), time.seconds().count());
}

std::string_view name_of(count_window window) {
    return window == count_window::hour ? "hour" : window == count_window::day ? "day" : "active";
}

/// Of the name of a window.
std::size_t name_columns_of(const figures& known) {
    return known.active ? 7 : 6;
}

std::size_t left_of(std::size_t columns, std::size_t taken) {
    return std::max(columns, taken + name_columns_min) - taken;
}

tone tone_of(std::uint64_t series, std::uint64_t series_max) {
    const std::uint64_t full = percent(series, series_max);
    return full >= 100 ? tone::bad : full >= 80 ? tone::warning : tone::good;
}

void add_bar(line& to, std::uint64_t series, std::uint64_t series_max, std::size_t columns, bool refuses = true) {
    to.add(bar(series, series_max, columns), refuses ? tone_of(series, series_max) : tone::plain);
    to.add(fmt::format(" {:>3} %  ", percent(series, series_max)));
}

void add_refused(line& to, std::uint64_t refused, bool is_exact, bool observes) {
    to.add(fmt::format("{} {}", observes ? "would refuse" : "refused", count_text(refused, is_exact)),
           refused != 0 ? tone::bad : tone::faint);
}

void append(line& to, const line& more) {
    for (const line::piece& each : more.pieces()) to.add(each.text, each.in);
}

/// With mode observe: takes the refusals of the budget that would refuse most, since the window counts only its own
/// limit's.
window_figures with_observing(const figures& known, count_window window) {
    window_figures made = window == count_window::hour  ? known.hourly
                          : window == count_window::day ? known.daily
                                                        : known.active.value_or(window_figures{});
    if (known.mode != "observe") return made;
    for (const budget_figures& each : known.budgets) {
        if (each.window != window || each.counts.refused <= made.refused) continue;
        made.refused = each.counts.refused;
        made.refused_is_exact = each.counts.refused_is_exact;
    }
    return made;
}

/// Of the budgets that can refuse, the one with least room, if it has less than the global one, or null. Budgets are
/// sorted.
const budget_figures* tighter_than(const window_figures& window, const figures& known, count_window of) {
    const auto found = std::ranges::find_if(known.budgets, [&](const budget_figures& each) {
        return each.refuses && each.window == of && each.observes == (known.mode == "observe");
    });
    if (found == known.budgets.end()) return nullptr;
    const std::uint64_t full = percent(found->counts.series, found->counts.series_max);
    return full > percent(window.series, window.series_max) ? &*found : nullptr;
}

/// The bar takes the free columns. Without room for everything the bar goes first, then the time.
line window_line(const figures& known, count_window of, std::chrono::sys_seconds now, std::size_t columns) {
    const window_figures window = with_observing(known, of);
    const budget_figures* const tightest = tighter_than(window, known, of);
    line made, numbers, left, tail;
    made.add(fmt::format("{:<{}}", name_of(of), name_columns_of(known)), tone::strong);
    if (window.series_max != 0)
        numbers.add(fmt::format("{} of {}  ", grouped(window.series), grouped(window.series_max)));
    else
        numbers.add(
            fmt::format("{}{}, not limited  ", grouped(window.series), of == count_window::active ? "" : " new"));
    add_refused(numbers, window.refused, window.refused_is_exact, known.mode == "observe");
    if (of != count_window::active)
        left.add("  ").add(duration_text(std::max(window.end - now, std::chrono::seconds{0})) + " left", tone::faint);
    std::size_t taken = made.columns() + (window.series_max == 0 ? 0 : percent_columns) + numbers.columns();
    if (tightest != nullptr) {
        tail.add(fmt::format("  {} %", percent(tightest->counts.series, tightest->counts.series_max)),
                 tone_of(tightest->counts.series, tightest->counts.series_max));
        tail.add(" in ", tone::faint).add_shortened(tightest->name, left_of(columns, taken + tail.columns()));
        if (taken + tail.columns() + left.columns() > columns) left = {};
    }
    taken += tail.columns() + left.columns();
    if (window.series_max != 0 && (tightest == nullptr || taken + bar_columns_min <= columns))
        add_bar(made, window.series, window.series_max,
                std::clamp(columns - std::min(columns, taken), bar_columns_min, bar_columns_max));
    else if (window.series_max != 0)
        made.add(fmt::format("{:>3} %  ", percent(window.series, window.series_max)),
                 tone_of(window.series, window.series_max));
    for (const line* const each : {&numbers, &left, &tail}) append(made, *each);
    return made;
}

void add_remedy(std::vector<line>& to, std::string_view title, std::string_view text, std::size_t columns) {
    if (text.empty()) return;
    to.push_back(std::move(line{}.add("   ").add_shortened(title, left_of(columns, 3), tone::faint)));
    while (!text.empty()) {
        const std::string_view one = text.substr(0, text.find('\n'));
        to.push_back(std::move(line{}.add("     ").add(one)));
        text.remove_prefix(std::min(one.size() + 1, text.size()));
    }
}

/// For labels the number of values comes first, since values explode.
std::string entry_detail(const top_entry& one) {
    return one.values == 0 ? one.detail : fmt::format("{}, {} series", one.detail, grouped(one.series));
}

line entry_line(const top_entry& one, std::size_t columns) {
    line made;
    made.add(fmt::format("{:>{}}", grouped(one.values == 0 ? one.series : one.values), number_columns), tone::strong)
        .add("  ");
    const std::string error = one.error == 0 ? "" : fmt::format("  +/-{}", grouped(one.error));
    const std::size_t tail = error.size() + 2 + clock_columns;
    const std::size_t room = left_of(columns, made.columns() + tail);
    const std::string detail = entry_detail(one);
    made.add_shortened(one.value.empty() ? "(none)" : one.value, detail.empty() ? room : room / 2);
    if (!detail.empty()) made.add("  ").add_shortened(detail, left_of(columns, made.columns() + 2 + tail), tone::faint);
    made.fill_to(columns - std::min(columns, tail));
    return made.add(error, tone::faint).add("  ").add(clock_text(one.last_seen), tone::faint);
}

line budget_numbers(const budget_figures& one) {
    line made;
    const window_figures& counts = one.counts;
    add_bar(made, counts.series, counts.series_max, budget_bar_columns, one.refuses);
    made.add(fmt::format("{} of {}  ", grouped(counts.series), grouped(counts.series_max)));
    add_refused(made, counts.refused, counts.refused_is_exact, one.observes);
    return made;
}

line budget_line(const budget_figures& one, std::size_t window_columns, std::size_t name_columns) {
    line made;
    made.add(fmt::format("{:<{}}", name_of(one.window), window_columns), tone::faint);
    const std::size_t end = made.columns() + name_columns;
    made.add_shortened(one.name, name_columns).fill_to(end).add("  ");
    append(made, budget_numbers(one));
    return made;
}

line refused_line(const refused_series& one, std::size_t columns) {
    line made;
    made.add(clock_text(one.when), tone::faint).add("  ");
    std::string why = fmt::format("{}/{}  {}", one.limit, name_of(one.window), one.sender);
    if (!one.tenant.empty()) why += "  " + one.tenant;
    why = shortened(fit_to_be_seen(why), columns / 3);
    const std::size_t room = left_of(columns, made.columns() + columns_of(why) + 2);
    return made.add_shortened(one.series, room).fill_to(clock_columns + 2 + room).add("  ").add(why, tone::faint);
}

line backend_line(const backend& one) {
    line made;
    made.add(one.is_up ? "up    " : "down  ", one.is_up ? tone::good : tone::bad).add(one.name);
    if (one.name != one.store) made.add(" of ").add(one.store);
    made.add(fmt::format("  in flight {}  requests {}", grouped(one.in_flight), grouped(one.requests)));
    made.add("  ").add(fmt::format("errors {}", grouped(one.errors)), one.errors != 0 ? tone::warning : tone::plain);
    if (one.waiting != 0) made.add("  ").add(fmt::format("waiting {}", grouped(one.waiting)), tone::warning);
    return made;
}

template <class Items, class ToLine>
std::vector<line> lines_of(const Items& items, std::string_view nothing, ToLine to_line) {
    std::vector<line> made;
    for (const auto& each : items) made.push_back(to_line(each));
    if (made.empty()) made.emplace_back(nothing, tone::faint);
    return made;
}

line title_line(const moment& at, std::size_t columns) {
    line made{"seriesgate", tone::strong};
    if (at.known) {
        // Without the commit, to save columns: "0.1.0~433.g0123456789ab" is "0.1.0~433".
        const std::string version = at.known->version.substr(0, at.known->version.find(".g"));
        made.add(" ").add(version).add("  up ").add(duration_text(at.known->uptime)).add("  ");
        made.add(at.known->mode, at.known->mode == "observe" ? tone::warning : tone::plain);
        if (!at.known->shared.empty()) made.add("  fleet ").add(at.known->shared);
    }
    const std::string now = clock_text(at.now) + " UTC";
    made.add("  ").add_shortened(at.url, left_of(columns, made.columns() + 2 + now.size()), tone::faint);
    return made.fill_to(columns - std::min(columns, now.size())).add(now, tone::faint);
}

content findings_part(const figures& known, bool with_remedies, std::size_t columns) {
    constexpr std::size_t indent = 3;
    content made{.heading = fmt::format("Findings of the {}",
                                        name_of(known.asked.daily ? count_window::day : count_window::hour)),
                 .lines_min = with_remedies ? 12U : 4U};
    std::size_t number = 0;
    for (const finding& each : known.findings) {
        std::string before = fmt::format("{}. ", ++number);
        const tone in = each.is_over ? tone::faint : tone::strong;
        for (const std::string& part : wrapped(each.text, left_of(columns, indent)))
            made.lines.push_back(std::move(line{}.add(std::exchange(before, "   "), in).add(part, in)));
        if (!with_remedies) continue;
        add_remedy(made.lines, "a rule for metric_relabel_configs or write_relabel_configs:", each.relabel, columns);
        add_remedy(made.lines, "for limits of the gate's own file:", each.limit, columns);
        for (const std::string& part : wrapped(each.note, left_of(columns, 2 * indent)))
            made.lines.push_back(std::move(line{}.add("      ").add(part, tone::faint)));
    }
    if (made.lines.empty()) made.lines.emplace_back("nothing has exploded", tone::good);
    return made;
}

content top_part(const figures& known, std::size_t columns) {
    const question& asked = known.asked;
    return {.heading = fmt::format("{} series of the {} by {}{}", asked.refused ? "Refused" : "New",
                                   name_of(asked.daily ? count_window::day : count_window::hour), asked.by,
                                   asked.by == "label" ? ", number of values" : ""),
            .lines = lines_of(known.top, asked.refused ? "nothing was refused" : "nothing is new",
                              [columns](const top_entry& one) { return entry_line(one, columns); }),
            .lines_min = 5};
}

content budgets_part(const figures& known, std::size_t columns) {
    std::size_t behind = 0;
    for (const budget_figures& each : known.budgets) behind = std::max(behind, budget_numbers(each).columns());
    const std::size_t window_columns = name_columns_of(known);
    const std::size_t name_columns = left_of(columns, window_columns + 2 + behind);
    content made{.heading = "Budgets nearest to their limit", .lines_min = 2};
    if (known.listed != 0) made.heading += fmt::format(", of the {} with most demand", known.listed);
    for (const budget_figures& each : known.budgets) {
        made.lines.push_back(budget_line(each, window_columns, name_columns));
        if (!each.note.empty())
            made.lines.push_back(
                std::move(line{}.add("      ").add_shortened(each.note, left_of(columns, 6), tone::faint)));
    }
    if (made.lines.empty())
        made.lines.emplace_back("no tenant and no group has a limit, or none has come yet", tone::faint);
    return made;
}

content refused_part(const figures& known, std::chrono::sys_seconds now, std::size_t columns) {
    std::string heading = "Refused last";
    if (known.last_refused)
        heading += fmt::format(", {} ago", duration_text(std::max(now - *known.last_refused, std::chrono::seconds{0})));
    return {.heading = std::move(heading),
            .lines = lines_of(known.refused, "nothing was refused",
                              [columns](const refused_series& one) { return refused_line(one, columns); }),
            .lines_min = 2};
}

content stores_part(const figures& known) {
    return {.heading = "Upstream",
            .lines = lines_of(known.backends, "discard: what is admitted goes nowhere", backend_line),
            .lines_min = 2};
}

constexpr auto parts_count = static_cast<std::size_t>(part::count_);
using contents = std::array<content, parts_count>;

constexpr std::string_view keys_line = " q quit  ? help  m l j s t by  n new r refused  h hour d day  x remedies  Tab";

constexpr std::array help{
    "m l j s t   by metric, label, job, sender, tenant",
    "n r         series that are new, or that were refused",
    "h d         of the hour, or of the day",
    "x           what stops each finding: rules to paste",
    "            A line that ends in > is cut: `seriesgate top --once` shows it whole.",
    "Tab         the next part: the one that is looked at scrolls and gets the room",
    "arrows, PgUp, PgDn, Home, End   scroll it",
    "space       ask the gate at once",
    "?           this, and back",
    "q, Ctrl-C   quit",
    "",
    "+/-         by how much a count may be wrong; the time at the end of a line is",
    "            when the last such series came. Times are in UTC.",
    "New series are those that neither the hour before nor the day had; refused ones",
    "had no room. \\x1b and the like are characters that no terminal should see.",
};

/// A line in place of missing figures, or about an error.
line state_line(const moment& at) {
    if (!at.fault.empty()) {
        line made{at.fault, tone::bad};
        if (at.known) made.add(fmt::format("; this is from {}", clock_text(at.taken)), tone::bad);
        return made;
    }
    if (!at.known) return line{"asking...", tone::faint};
    if (at.known->clock_in_doubt)
        return line{"the clock has leapt by over an hour and is not believed yet", tone::warning};
    return {};
}

contents contents_of(const moment& at, bool with_remedies, std::size_t columns) {
    const figures& known = *at.known;
    return {findings_part(known, with_remedies, columns), top_part(known, columns), budgets_part(known, columns),
            refused_part(known, at.now, columns), stores_part(known)};
}

/// Lines for each part, without headings. A part with none has no heading either.
std::array<std::size_t, parts_count> shares_of(std::size_t rows, const contents& all, std::size_t focus) {
    std::array<std::size_t, parts_count> shares{};
    const auto give = [&](std::size_t to, std::size_t lines_max) {
        const std::size_t wanted = std::min(all[to].lines.size(), lines_max);
        const std::size_t heading = shares[to] == 0 ? 1 : 0;
        if (wanted <= shares[to] || rows <= heading) return;
        const std::size_t more = std::min(wanted - shares[to], rows - heading);
        shares[to] += more;
        rows -= more + heading;
    };
    give(focus, 1);
    for (std::size_t each = 0; each < parts_count; ++each) give(each, 1);
    for (std::size_t each = 0; each < parts_count; ++each) give(each, all[each].lines_min);
    give(focus, rows + shares[focus]);
    for (std::size_t each = 0; each < parts_count; ++each) give(each, rows + shares[each]);
    return shares;
}

line heading_line(const content& of, std::string_view where, bool has_focus, std::size_t columns) {
    const tone in = has_focus ? tone::chosen : tone::strong;
    line made{fmt::format("{} {} {}", has_focus ? "=>" : "--", of.heading, where), in};
    return made.fill_to(columns, has_focus ? '=' : '-', in);
}

std::string where_text(std::size_t first, std::size_t shown, std::size_t all) {
    return shown == all ? std::string{} : fmt::format("({}-{} of {}) ", first + 1, first + shown, all);
}

void add_parts(frame& to, const contents& all, const view& seen, screen_size size) {
    const auto focus = static_cast<std::size_t>(seen.focus);
    const auto shares = shares_of(size.rows - to.lines.size() - 1, all, focus);
    for (std::size_t each = 0; each < parts_count; ++each) {
        if (shares[each] == 0) continue;
        const content& shown = all[each];
        const std::size_t hidden = shown.lines.size() - shares[each];
        const std::size_t first = each == focus ? std::min(seen.scroll, hidden) : 0;
        to.lines.push_back(
            heading_line(shown, where_text(first, shares[each], shown.lines.size()), each == focus, size.columns));
        const auto from = shown.lines.begin() + static_cast<std::ptrdiff_t>(first);
        to.lines.insert(to.lines.end(), from, from + static_cast<std::ptrdiff_t>(shares[each]));
        if (each == focus) {
            to.scroll_max = hidden;
            to.page = shares[each];
        }
    }
}

void add_body(frame& to, const moment& at, const view& seen, screen_size size) {
    if (seen.shows_help) {
        for (const char* each : help) to.lines.emplace_back(each);
    } else if (at.known && size.rows > to.lines.size() + 1) {
        add_parts(to, contents_of(at, seen.shows_remedies, size.columns), seen, size);
    }
}

void add_head(std::vector<line>& to, const moment& at, std::size_t columns) {
    to.push_back(title_line(at, columns));
    if (at.known)
        for (const auto each : {count_window::hour, count_window::day, count_window::active})
            if (each != count_window::active || at.known->active)
                to.push_back(window_line(*at.known, each, at.now, columns));
    to.push_back(state_line(at));
}

}  // namespace

frame make_frame(const moment& at, const view& seen, screen_size size) {
    frame made;
    add_head(made.lines, at, size.columns);
    add_body(made, at, seen, size);
    if (size.rows > 0) made.lines.resize(size.rows - 1);
    made.lines.emplace_back(keys_line, tone::faint);
    for (line& each : made.lines) each = each.cut_to(size.columns);
    return made;
}

std::vector<line> make_report(const moment& at, std::size_t columns) {
    std::vector<line> made;
    add_head(made, at, columns);
    if (made.back().columns() == 0) made.pop_back();
    if (at.known)
        for (const content& each : contents_of(at, true, columns)) {
            made.emplace_back("");
            made.emplace_back(each.heading, tone::strong);
            made.insert(made.end(), each.lines.begin(), each.lines.end());
        }
    return made;
}

}  // namespace seriesgate::top
