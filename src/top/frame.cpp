#include "top/frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "top/numbers.hpp"
#include "top/parts.hpp"

namespace seriesgate::top {
namespace {

constexpr auto parts_count = static_cast<std::size_t>(part::count_);
using contents = std::array<content, parts_count>;

constexpr std::string_view keys_line = " q quit  ? help  m l j s t by  n new r refused  h hour d day  x remedies  Tab";

constexpr std::array help{
    "m l j s t   by metric, label, job, sender, tenant",
    "n r         series that are new, or that were refused",
    "h d         of the hour, or of the day",
    "x           what stops each finding: rules to paste",
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

/// What there is to say in place of figures, or of what is wrong with them.
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
    return {findings_part(known, with_remedies, columns), talkers_part(known, columns), budgets_part(known, columns),
            refused_part(known, at.now, columns), stores_part(known, columns)};
}

/// How many lines each part gets, without its heading. Those that get none have no heading either.
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
        for (line& each : window_lines(*at.known, at.now, columns)) to.push_back(std::move(each));
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
