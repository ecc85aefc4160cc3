#include "config/yaml_mistakes.hpp"

#include <algorithm>
#include <vector>

#include "config/wording.hpp"
#include "config/yaml_scan.hpp"

namespace seriesgate {
namespace {

constexpr std::string_view spaces = " \t\r";

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        lines.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

std::size_t indent_of(std::string_view line) noexcept {
    return std::min(line.find_first_not_of(' '), line.size());
}

bool is_blank(std::string_view line) noexcept {
    const auto first = line.find_first_not_of(spaces);
    return first == std::string_view::npos || line[first] == '#';
}

bool is_indented_by_tab(std::string_view line) noexcept {
    const auto first = line.find_first_not_of(spaces);
    return first != std::string_view::npos && line.substr(0, first).find('\t') != std::string_view::npos;
}

/// What stands behind `key: ` or `- `, or the line.
std::string_view value_in(std::string_view line) noexcept {
    const auto colon = line.find(": ");
    const auto start = colon != std::string_view::npos ? colon + 2 : line.find("- ") + 2;
    const bool has_sign = colon != std::string_view::npos || line.find("- ") != std::string_view::npos;
    auto value = has_sign ? line.substr(start) : line;
    value.remove_prefix(std::min(value.find_first_not_of(spaces), value.size()));
    return value;
}

/// In a value without quotes it would make another key; the parser's own words say so.
bool has_colon(std::string_view value) noexcept {
    return !value.starts_with('[') && (value.find(": ") != std::string_view::npos || value.ends_with(':'));
}

std::string quote_mistake(const yaml_quote& quote) {
    const std::string which = std::string{"the quote ("} + quote.sign + ") that opens here is ";
    if (quote.end_line == 0) return which + "never closed";
    if (quote.end_line != quote.line) return which + "not closed before line " + std::to_string(quote.end_line);
    return which + "closed amid the value; in single quotes ' is written '', in double quotes \" is \\\"";
}

/// A value that begins with, or holds, what is a sign to YAML.
std::string sign_mistake(std::string_view value) {
    if (value.empty() || value.find_first_of("'\"") == 0) return "";
    if (std::string_view{"@`%"}.find(value[0]) != std::string_view::npos)
        return std::string{"a value that begins with "} + value[0] + " needs quotes";
    if (value[0] == '*') return "a value that begins with * and has no quotes is an alias, and there is no such anchor";
    const bool is_list = value[0] == '[' || value[0] == '{';
    const auto inside = value.substr(is_list ? 1 : 0);
    if (inside.find("${") != std::string_view::npos && is_list)
        return "a value with ${ needs quotes within [ ] and { }: \"${NAME}\"";
    if (inside.find('{') < inside.find_first_of("'\"") && inside.find('=') != std::string_view::npos)
        return "a selector needs quotes, such as '{namespace=~\".+\"}'";
    if (is_list && value.find_last_of("]}") + 1 < value.find_last_not_of(spaces) + 1)
        return std::string{"a value that begins with "} + value[0] + " needs quotes, such as \"[::1]:9201\"";
    return "";
}

/// A line that stands at another depth than those above it allow. @param index of the line.
std::string indent_mistake(const std::vector<std::string_view>& lines, std::size_t index) {
    const std::size_t indent = indent_of(lines[index]);
    std::size_t before = index;
    while (before > 0 && is_blank(lines[before - 1])) --before;
    if (before == 0) return "";
    const std::string_view above = lines[before - 1];
    const bool above_has_value = above.find(": ") != std::string_view::npos;
    if (indent > indent_of(above))
        return above_has_value
                   ? "this line is indented deeper than line " + std::to_string(before) + ", which has a value"
                   : "";
    for (std::size_t i = 0; i < before; ++i) {
        const bool fits = indent_of(lines[i]) == indent;
        const bool item_fits =
            lines[i].substr(indent_of(lines[i])).starts_with("- ") && indent_of(lines[i]) + 2 == indent;
        if (!is_blank(lines[i]) && (fits || item_fits)) return "";
    }
    return "this line is indented like no line above";
}

std::string mistake_in_line(const std::vector<std::string_view>& lines, std::size_t index) {
    const std::string_view line = lines[index];
    if (has_colon(value_in(line))) return "";
    for (const auto part : {value_in(line), line.substr(indent_of(line))})
        if (std::string sign = sign_mistake(part); !sign.empty()) return sign;
    return indent_mistake(lines, index);
}

constexpr std::string_view not_yaml = "not valid YAML: ";

yaml_fault fault_at(std::size_t line, std::string_view message) {
    return {line, std::string{not_yaml}.append(message)};
}

yaml_fault bracket_fault(const yaml_bracket& open) {
    return fault_at(open.line, std::string{"the "} + open.sign + " that opens here is never closed");
}

/// Parsers give up there or a line later. @return 0 if no tab is to blame.
std::size_t line_with_tab(const std::vector<std::string_view>& lines, const yaml_fault& given) {
    for (const std::size_t line : {given.line - 1, given.line})
        if (line > 0 && line <= lines.size() && is_indented_by_tab(lines[line - 1])) return line;
    return given.message.find("illegal tab") == std::string::npos ? 0 : given.line;
}

/// The one that is never closed, or else the first.
const yaml_quote* quote_to_blame(const yaml_scan& scan) {
    const auto open = std::ranges::find(scan.odd_quotes, std::size_t{0}, &yaml_quote::end_line);
    if (open != scan.odd_quotes.end()) return &*open;
    return scan.odd_quotes.empty() ? nullptr : &scan.odd_quotes.front();
}

}  // namespace

yaml_fault unclosed_quote(std::string_view text, std::size_t line) {
    const auto quotes = scan_yaml(text).odd_quotes;
    const auto open = std::ranges::find(quotes, std::size_t{0}, &yaml_quote::end_line);
    if (open != quotes.end() && open->line == line) return fault_at(line, quote_mistake(*open));
    return fault_at(line, "a quote that opens here is never closed");
}

yaml_fault explain_fault(std::string_view text, const yaml_fault& given) {
    if (text.find('\0') != std::string_view::npos) return fault_at(0, "the file holds null bytes and is no text");
    const auto lines = lines_of(text);
    if (const std::size_t line = line_with_tab(lines, given); line != 0)
        return fault_at(line, "a tab indents this line; YAML takes only spaces for that");
    const yaml_scan scan = scan_yaml(text);
    if (const yaml_quote* quote = quote_to_blame(scan)) return fault_at(quote->line, quote_mistake(*quote));
    const auto& open = scan.open_brackets;
    if (!open.empty() && open.back().line < given.line) return bracket_fault(open.back());
    if (given.message == "illegal flow end") return fault_at(given.line, "a ] or } that nothing opens");
    if (given.line > 0 && given.line <= lines.size())
        if (const auto found = mistake_in_line(lines, given.line - 1); !found.empty())
            return fault_at(given.line, found);
    return open.empty() ? fault_at(given.line, given.message) : bracket_fault(open.back());
}

std::string missing_in_line(std::string_view text) {
    const auto lines = lines_of(text);
    const auto first = std::ranges::find_if_not(lines, is_blank);
    if (first == lines.end()) return "";
    auto line = *first;
    line.remove_prefix(indent_of(line));
    const auto name = line.substr(0, line.find_first_of(" \t\r:="));
    if (name.empty() || name.size() == line.size() || name == "-") return "";
    return "behind " + in_quotes(name) + " a colon and a space are missing";
}

std::string unindented_line(std::string_view text, std::size_t line) {
    const auto lines = lines_of(text);
    const auto first = std::ranges::find_if_not(lines, is_blank);
    if (first == lines.end() || line == 0 || line > lines.size()) return "";
    if (indent_of(*first) <= indent_of(lines[line - 1]) || lines[line - 1].starts_with("---")) return "";
    return "this line is indented less than line " + std::to_string(first - lines.begin() + 1) +
           ", where the keys begin";
}

}  // namespace seriesgate
