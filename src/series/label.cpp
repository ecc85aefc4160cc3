#include "series/label.hpp"

#include <algorithm>

#include "core/text.hpp"

namespace seriesgate {
namespace {

/// Escapes control characters, which would break the line, and invalid UTF-8. Distinct texts stay distinct.
/// @param escaped characters that get a backslash too; must contain the backslash.
void append_escaped(std::string& out, bytes_view text, bytes_view escaped = "\"\\") {
    while (!text.empty()) {
        const std::size_t size = utf8_size(text);
        const bytes_view character = text.substr(0, size == 0 ? 1 : size);
        if (size == 0 || !is_seen(character)) {
            append_code(out, character);
        } else {
            if (escaped.find(character.front()) != bytes_view::npos) out += '\\';
            out += character;
        }
        text.remove_prefix(character.size());
    }
}

constexpr std::size_t label_name_bytes_max = 64;
/// Values are not cut further, except in series with very many labels.
constexpr std::size_t value_bytes_min = 24;

/// Cuts in the middle, as `abc...xyz`, because texts with equal beginnings mostly differ at the end. Cuts between
/// characters.
void append_cut(std::string& out, bytes_view text, std::size_t bytes_max) {
    constexpr bytes_view mark = "...";
    if (text.size() <= std::max(bytes_max, mark.size())) return append_escaped(out, text);
    const std::size_t kept = std::max(bytes_max, mark.size()) - mark.size();
    append_escaped(out, without_middle(text, {.head = kept - kept / 2, .tail = kept / 2}, mark));
}

/// Bytes for each value so that all labels fit into `bytes_max`; at least value_bytes_min.
std::size_t room_for_each(std::span<const label_view> labels, std::size_t bytes_max) {
    constexpr std::size_t around = 4;  // `="",`
    const auto all_with = [&](std::size_t value_bytes_max) {
        std::size_t bytes = 0;
        for (const label_view& label : labels)
            if (label.name != name_label && !label.value.empty())
                bytes += std::min(label.name.size(), label_name_bytes_max) + around +
                         std::min(label.value.size(), value_bytes_max);
        return bytes;
    };
    std::size_t fits = value_bytes_min;
    for (std::size_t over = std::max(bytes_max, fits) + 1; over - fits > 1;) {
        const std::size_t middle = fits + (over - fits) / 2;
        (all_with(middle) <= bytes_max ? fits : over) = middle;
    }
    return fits;
}

}  // namespace

std::vector<label_view> label_views(const series_labels& labels) {
    std::vector<label_view> views;
    views.reserve(labels.size());
    for (const auto& [name, value] : labels) views.push_back({name, value});
    return views;
}

std::string quoted_text(bytes_view text) {
    std::string out{'"'};
    append_escaped(out, text);
    out += '"';
    return out;
}

std::string readable(bytes_view text) {
    std::string out;
    append_escaped(out, text, "\\");
    return out;
}

std::string unreadable(bytes_view text) {
    std::string out;
    while (!text.empty()) {
        const char kind = text.size() > 1 && text[0] == '\\' ? text[1] : '\0';
        const std::size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
        const bytes_view number = text.substr(digits == 0 ? 0 : 2, digits);
        const auto code = whole_number<std::uint32_t>(number, 16).value_or(0);
        if (digits > 2)
            append_utf8(out, code);
        else
            out += digits == 2 ? static_cast<char>(static_cast<unsigned char>(code)) : text[0];
        text.remove_prefix(digits != 0 ? 2 + number.size() : kind == '\\' ? 2 : 1);
    }
    return out;
}

std::string to_text(std::span<const label_view> labels, std::size_t bytes_max) {
    std::string out;
    for (const label_view& label : labels)
        if (label.name == name_label) append_cut(out, label.value, bytes_max / 2);
    const std::size_t value_bytes_max = room_for_each(labels, bytes_max - std::min(bytes_max, out.size()));
    std::string inner;
    for (const label_view& label : labels) {
        if (label.name == name_label || label.value.empty()) continue;
        if (!inner.empty()) inner += ',';
        if (out.size() + inner.size() > bytes_max) {
            inner += "...";
            break;
        }
        append_cut(inner, label.name, label_name_bytes_max);
        inner += "=\"";
        append_cut(inner, label.value, value_bytes_max);
        inner += '"';
    }
    if (inner.empty() && !out.empty()) return out;
    return out.append("{").append(inner).append("}");
}

}  // namespace seriesgate
