#include "top/view.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace seriesgate::top {
namespace {

constexpr char escape = '\x1b';

/// After `\x1b[` or `\x1bO`, without modifiers.
constexpr std::array<std::pair<std::string_view, special>, 14> sequences{{{"A", special::up},
                                                                          {"B", special::down},
                                                                          {"H", special::home},
                                                                          {"F", special::end},
                                                                          {"Z", special::back_tab},
                                                                          {"1~", special::home},
                                                                          {"7~", special::home},
                                                                          {"4~", special::end},
                                                                          {"8~", special::end},
                                                                          {"5~", special::page_up},
                                                                          {"6~", special::page_down},
                                                                          {"1;5A", special::up},
                                                                          {"1;5B", special::down},
                                                                          {"1;5H", special::home}}};

special meant_by(std::string_view sequence) {
    const auto* const found = std::ranges::find(sequences, sequence, &std::pair<std::string_view, special>::first);
    return found == sequences.end() ? special::none : found->second;
}

/// Length of the escape sequence at the start of the text; 0: incomplete.
std::size_t sequence_size(std::string_view text) {
    if (text.size() < 2) return 0;
    if (text[1] != '[' && text[1] != 'O') return 1;
    for (std::size_t at = 2; at < text.size(); ++at)
        if (text[at] >= 0x40 && text[at] <= 0x7e) return at + 1;
    return text.size() > key_reader::sequence_bytes_max ? text.size() : 0;
}

constexpr char ctrl_c = 0x03;
constexpr char ctrl_l = 0x0c;
constexpr char ctrl_z = 0x1a;

void look_at(view& seen, part at) {
    if (std::exchange(seen.focus, at) != at) seen.scroll = 0;
}

void look_further(view& seen, unsigned parts) {
    constexpr auto count = static_cast<unsigned>(part::count_);
    look_at(seen, static_cast<part>((static_cast<unsigned>(seen.focus) + parts) % count));
}

wish ask_by(view& seen, std::string_view by) {
    seen.asked.by = by;
    seen.scroll = 0;
    seen.focus = part::top;
    return wish::ask;
}

wish ask_of(view& seen, bool question::*of, bool answer) {
    seen.asked.*of = answer;
    seen.scroll = 0;
    return wish::ask;
}

wish show_remedies(view& seen) {
    seen.shows_remedies = !seen.shows_remedies;
    if (seen.shows_remedies) look_at(seen, part::findings);
    return wish::draw;
}

wish scroll_to(view& seen, std::size_t line) {
    seen.scroll = line;
    return wish::draw;
}

wish press_special(view& seen, special pressed, std::size_t page) {
    constexpr std::size_t far = 1U << 20;
    switch (pressed) {
        case special::up:
            return scroll_to(seen, seen.scroll - std::min<std::size_t>(seen.scroll, 1));
        case special::down:
            return scroll_to(seen, seen.scroll + 1);
        case special::page_up:
            return scroll_to(seen, seen.scroll - std::min(seen.scroll, page));
        case special::page_down:
            return scroll_to(seen, seen.scroll + page);
        case special::home:
            return scroll_to(seen, 0);
        case special::end:
            return scroll_to(seen, far);
        case special::tab:
            look_further(seen, 1);
            return wish::draw;
        case special::back_tab:
            look_further(seen, static_cast<unsigned>(part::count_) - 1);
            return wish::draw;
        case special::escape:
            seen.shows_help = false;
            return wish::draw;
        case special::none:
            break;
    }
    return wish::nothing;
}

wish press_letter(view& seen, char pressed) {
    for (const std::string_view by : {"metric", "label", "job", "sender", "tenant"})
        if (by.front() == pressed) return ask_by(seen, by);
    switch (pressed) {
        case 'n':
            return ask_of(seen, &question::refused, false);
        case 'r':
            return ask_of(seen, &question::refused, true);
        case 'h':
            return ask_of(seen, &question::daily, false);
        case 'd':
            return ask_of(seen, &question::daily, true);
        case 'x':
            return show_remedies(seen);
        case '?':
            seen.shows_help = !seen.shows_help;
            return wish::draw;
        case ' ':
            return wish::ask;
        case ctrl_l:
            return wish::draw;
        case ctrl_z:
            return wish::suspend;
        case 'q':
        case ctrl_c:
            return wish::quit;
        default:
            return wish::nothing;
    }
}

}  // namespace

std::vector<key> key_reader::read(std::string_view bytes) {
    std::vector<key> keys;
    const std::string all = std::exchange(pending_, {}).append(bytes);
    for (std::string_view rest = all; !rest.empty();) {
        if (rest.front() != escape) {
            keys.push_back(rest.front() == '\t' ? key{.letter = 0, .other = special::tab}
                                                : key{.letter = rest.front(), .other = special::none});
            rest.remove_prefix(1);
            continue;
        }
        const std::size_t size = sequence_size(rest);
        if (size == 0) {
            pending_ = rest;
            break;
        }
        const special meant = size == 1 ? special::escape : meant_by(rest.substr(2, size - 2));
        if (meant != special::none) keys.push_back({.letter = 0, .other = meant});
        rest.remove_prefix(size);
    }
    return keys;
}

wish press(view& seen, const key& pressed, std::size_t page) {
    return pressed.other == special::none ? press_letter(seen, pressed.letter)
                                          : press_special(seen, pressed.other, page);
}

}  // namespace seriesgate::top
