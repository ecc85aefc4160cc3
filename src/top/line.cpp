#include "top/line.hpp"

#include <locale.h>
#include <wchar.h>

#include <algorithm>
#include <cassert>

#include "core/text.hpp"

namespace seriesgate::top {
namespace {

constexpr std::size_t marks_max = 2;
constexpr std::string_view mark = "...";

/// The character at the start of a text, or one invalid byte.
std::string_view first_of(std::string_view text) {
    return text.substr(0, std::max<std::size_t>(utf8_size(text), 1));
}

/// From the C library's tables of its C.UTF-8 locale; the process' locale stays as it is. 0 for a combining mark, 2 for
/// a wide character, -1 for an unprintable one.
int width_of(char32_t character) {
    if (character >= 0x20 && character < 0x7f) return 1;
    static const locale_t unicode = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", locale_t{});
    if (unicode == locale_t{}) return -1;
    const locale_t before = ::uselocale(unicode);
    const int width = ::wcwidth(static_cast<wchar_t>(character));
    ::uselocale(before);
    return width;
}

std::string tail_of(std::string_view seen, std::size_t columns_max) {
    std::size_t width = 0;
    for (std::size_t columns = columns_of(seen); columns > columns_max; columns -= width) {
        width = columns_of(first_of(seen));
        seen.remove_prefix(first_of(seen).size());
    }
    // A mark stays with its character.
    while (!seen.empty() && columns_of(first_of(seen)) == 0) seen.remove_prefix(first_of(seen).size());
    return std::string{seen};
}

std::string_view head_of(std::string_view seen, std::size_t columns_max) {
    std::size_t bytes = 0;
    std::size_t columns = 0;
    while (bytes < seen.size()) {
        const std::string_view character = first_of(seen.substr(bytes));
        columns += columns_of(character);
        if (columns > columns_max) break;
        bytes += character.size();
    }
    return seen.substr(0, bytes);
}

}  // namespace

std::string fit_to_be_seen(std::string_view text) {
    std::string out;
    std::size_t marks = marks_max;  // a mark at the start has no base character
    for (; !text.empty(); text.remove_prefix(first_of(text).size())) {
        const std::string_view character = first_of(text);
        const bool is_byte = utf8_size(text) == 0;
        const int width = is_byte || !is_seen(character) ? -1 : width_of(code_of(character));
        marks = width == 0 ? marks + 1 : 0;
        if (width < 0 || marks > marks_max)
            append_code(out, character);
        else
            out += character;
    }
    return out;
}

std::size_t columns_of(std::string_view seen) {
    std::size_t columns = 0;
    while (!seen.empty()) {
        const std::string_view character = first_of(seen);
        columns += character.size() == 1 ? 1U : static_cast<std::size_t>(std::max(width_of(code_of(character)), 0));
        seen.remove_prefix(character.size());
    }
    return columns;
}

std::string shortened(std::string_view seen, std::size_t columns_max) {
    if (columns_of(seen) <= columns_max) return std::string{seen};
    if (columns_max <= mark.size()) return std::string{head_of(seen, columns_max)};
    const std::size_t kept = columns_max - mark.size();
    return std::string{head_of(seen, kept - kept / 2)}.append(mark) + tail_of(seen, kept / 2);
}

std::vector<std::string> wrapped(std::string_view text, std::size_t columns_max) {
    assert(columns_max >= 2);
    const std::string seen = fit_to_be_seen(text);
    std::vector<std::string> lines;
    for (std::string_view rest = seen; !rest.empty();) {
        std::string_view part = head_of(rest, columns_max);
        if (part.size() < rest.size() && rest[part.size()] != ' ')
            if (const auto blank = part.rfind(' '); blank != std::string_view::npos && blank > part.size() / 2)
                part = part.substr(0, blank);
        lines.emplace_back(part);
        rest.remove_prefix(part.size());
        if (rest.starts_with(' ')) rest.remove_prefix(1);
    }
    return lines;
}

line& line::add(std::string_view text, tone in) {
    std::string seen = fit_to_be_seen(text);
    columns_ += columns_of(seen);
    if (!seen.empty()) pieces_.push_back({.in = in, .text = std::move(seen)});
    return *this;
}

line& line::add_shortened(std::string_view text, std::size_t columns_max, tone in) {
    return add(shortened(fit_to_be_seen(text), columns_max), in);
}

line& line::fill_to(std::size_t column, char with, tone in) {
    return columns_ < column ? add(std::string(column - columns_, with), in) : *this;
}

std::string line::text() const {
    std::string all;
    for (const piece& each : pieces_) all += each.text;
    all.erase(all.find_last_not_of(' ') + 1);
    return all;
}

line line::cut_to(std::size_t columns_max) const {
    if (columns_ <= columns_max) return *this;
    const bool loses_text = columns_of(text()) > columns_max && columns_max != 0;
    line made;
    for (const piece& each : pieces_)
        made.add(head_of(each.text, columns_max - (loses_text ? 1 : 0) - made.columns()), each.in);
    if (loses_text) made.add(">", tone::faint);
    return made;
}

}  // namespace seriesgate::top
