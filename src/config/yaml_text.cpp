#include "config/yaml_text.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>

#include "core/text.hpp"

namespace seriesgate {
namespace {

constexpr std::size_t line_columns_max = 100;
constexpr std::size_t indent_step = 2;
/// How deep maps are sections.
constexpr std::size_t section_depth_max = 1;

/// What no YAML reader takes for anything else, in lists and maps with brackets either.
bool is_plain(std::string_view text) {
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/";
    constexpr std::string_view signs = ".:-+@%";
    constexpr std::array<std::string_view, 3> nothing{"null", "Null", "NULL"};
    if (text.empty() || std::ranges::count(nothing, text) != 0) return false;
    const auto is_letter = [&](char c) { return letters.find(c) != std::string_view::npos; };
    const auto fits = [&](char c) { return is_letter(c) || signs.find(c) != std::string_view::npos; };
    return is_letter(text.front()) && text.back() != ':' && std::ranges::all_of(text, fits);
}

/// Control characters, what ends a line, and the mark that begins a file.
bool needs_escape(std::string_view character) {
    return is_control_character(character) || character == "\ufeff";
}

/// Hands every character of a text to `visit`, and every byte that is none.
template <class Visit>
void for_each_character(std::string_view text, Visit visit) {
    while (!text.empty()) {
        const std::size_t size = std::max<std::size_t>(utf8_size(text), 1);
        visit(text.substr(0, size));
        text.remove_prefix(size);
    }
}

std::string single_quoted(std::string_view text) {
    std::string out = "'";
    for (const char c : text) out.append(c == '\'' ? 2 : 1, c);
    return out += '\'';
}

std::string double_quoted(std::string_view text) {
    std::string out = "\"";
    for_each_character(text, [&](std::string_view character) {
        if (needs_escape(character)) return append_code(out, character);
        if (character == "\"" || character == "\\") out += '\\';
        out += character;
    });
    return out += '"';
}

std::string scalar_text(std::string_view text) {
    if (is_plain(text)) return std::string{text};
    bool escapes = false;
    for_each_character(text, [&](std::string_view character) { escapes = escapes || needs_escape(character); });
    return escapes ? double_quoted(text) : single_quoted(text);
}

bool is_short(const std::string& line, std::size_t indent) {
    return indent + line.size() <= line_columns_max;
}

void append_map(std::string& out, const yaml_value& map, std::size_t indent, std::size_t depth);
void append_list(std::string& out, const yaml_value& list, std::size_t indent, std::size_t depth);

/// What stands behind a key.
void append_value(std::string& out, const yaml_value& value, std::size_t indent, std::size_t depth) {
    const bool is_section = value.kind == yaml_kind::map && depth <= section_depth_max && !value.members.empty();
    const std::string line = is_section ? "" : yaml_line(value);
    if (!is_section && (is_short(line, indent) || value.kind == yaml_kind::text)) {
        out.append(" ").append(line).append("\n");
    } else {
        out += '\n';
        if (value.kind == yaml_kind::map) append_map(out, value, indent + indent_step, depth);
        if (value.kind == yaml_kind::list) append_list(out, value, indent + indent_step, depth);
    }
}

void append_map(std::string& out, const yaml_value& map, std::size_t indent, std::size_t depth) {
    for (const yaml_member& member : map.members) {
        out.append(indent, ' ').append(scalar_text(member.name)).append(":");
        append_value(out, member.value, indent, depth + 1);
    }
}

void append_list(std::string& out, const yaml_value& list, std::size_t indent, std::size_t depth) {
    for (const yaml_value& item : list.items) {
        const std::size_t start = out.size();
        if (item.kind == yaml_kind::map && !is_short(yaml_line(item), indent)) {
            append_map(out, item, indent + indent_step, depth + 1);
        } else {
            out.append(indent + indent_step, ' ').append(yaml_line(item)).append("\n");
        }
        out[start + indent] = '-';
    }
}

}  // namespace

yaml_value yaml_scalar(std::string text) {
    yaml_value value;
    value.kind = yaml_kind::text;
    value.text = std::move(text);
    return value;
}

yaml_value yaml_list(std::vector<yaml_value> items) {
    yaml_value value;
    value.kind = yaml_kind::list;
    value.items = std::move(items);
    return value;
}

yaml_value yaml_map(std::vector<yaml_member> members) {
    yaml_value value;
    value.kind = yaml_kind::map;
    value.members = std::move(members);
    return value;
}

yaml_member yaml_entry(std::string_view name, yaml_value value) {
    return {std::string{name}, 0, std::move(value)};
}

std::string yaml_line(const yaml_value& value) {
    if (value.kind == yaml_kind::text) return scalar_text(value.text);
    if (value.kind == yaml_kind::nothing) return "null";
    const bool is_map = value.kind == yaml_kind::map;
    std::string out = is_map ? "{" : "[";
    const auto separate = [&] { out += out.size() == 1 ? "" : ", "; };
    for (const yaml_value& item : value.items) {
        separate();
        out += yaml_line(item);
    }
    for (const yaml_member& member : value.members) {
        separate();
        out.append(scalar_text(member.name)).append(": ").append(yaml_line(member.value));
    }
    return out += is_map ? '}' : ']';
}

std::string yaml_text(const yaml_value& map) {
    assert(map.kind == yaml_kind::map);
    std::string out;
    append_map(out, map, 0, 0);
    return out;
}

}  // namespace seriesgate
