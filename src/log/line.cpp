#include "log/line.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cassert>
#include <cmath>
#include <cstddef>
#include <iterator>

#include "core/text.hpp"

namespace seriesgate::log {
namespace {

void append_character(std::string& out, std::string_view character) {
    if (character == "\"" || character == "\\") {
        out.append("\\").append(character);
    } else if (character == "\n") {
        out += "\\n";
    } else if (character == "\t") {
        out += "\\t";
    } else if (character == "\r") {
        out += "\\r";
    } else if (is_control_character(character)) {
        fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(code_of(character)));
    } else {
        out += character;
    }
}

/// As a string of JSON, with its quotes.
void append_quoted(std::string& out, std::string_view text) {
    out += '"';
    while (!text.empty()) {
        const std::size_t size = utf8_size(text);
        if (size == 0) {
            fmt::format_to(std::back_inserter(out), "\\\\x{:02x}", static_cast<unsigned char>(text.front()));
        } else {
            append_character(out, text.substr(0, size));
        }
        text.remove_prefix(size == 0 ? 1 : size);
    }
    out += '"';
}

/// Whether logfmt can do without quotes.
bool is_plain(std::string_view text) {
    if (text.empty()) return false;
    for (const char c : text)
        if (c <= ' ' || c > '~' || c == '=' || c == '"' || c == '\\') return false;
    return true;
}

void append_text(std::string& out, format as, std::string_view text) {
    if (as == format::logfmt && is_plain(text)) {
        out += text;
    } else {
        append_quoted(out, text);
    }
}

void append_value(std::string& out, format as, const field::value_type& value) {
    if (const auto* text = std::get_if<std::string_view>(&value)) return append_text(out, as, *text);
    if (const auto* number = std::get_if<double>(&value); number != nullptr && !std::isfinite(*number))
        return append_text(out, as, fmt::to_string(*number));  // JSON has no such number
    std::visit(
        [&out](const auto& plain) {
            if constexpr (!std::is_same_v<std::decay_t<decltype(plain)>, std::string_view>)
                out += fmt::to_string(plain);
        },
        value);
}

void append_field(std::string& out, format as, const field& each) {
    assert(is_plain(each.key()));
    if (as == format::logfmt) {
        out.append(out.empty() ? "" : " ").append(each.key()).append("=");
    } else {
        out.append(out.empty() ? "{\"" : ",\"").append(each.key()).append("\":");
    }
    append_value(out, as, each.value());
}

}  // namespace

std::string_view name_of(level of) noexcept {
    switch (of) {
        case level::debug:
            return "debug";
        case level::info:
            return "info";
        case level::warn:
            return "warn";
        case level::error:
            break;
    }
    return "error";
}

std::string line_of(format as, level of, time_point at, std::string_view message, std::span<const field> fields) {
    const auto milliseconds = std::chrono::floor<std::chrono::milliseconds>(at);
    const auto seconds = std::chrono::floor<std::chrono::seconds>(milliseconds);
    const std::string when =
        fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(seconds), (milliseconds - seconds).count());
    std::string line;
    append_field(line, as, {"ts", when});
    append_field(line, as, {"level", name_of(of)});
    append_field(line, as, {"msg", message});
    for (const field& each : fields) append_field(line, as, each);
    if (as == format::json) line += '}';
    return line;
}

}  // namespace seriesgate::log
