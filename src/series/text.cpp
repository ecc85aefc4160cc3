#include "series/text.hpp"

#include "core/utf8.hpp"

namespace seriesgate {
namespace {

void append_hex(std::string& out, char character) {
    constexpr char digits[] = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(character);
    out += "\\x";
    out += digits[byte >> 4];
    out += digits[byte & 15];
}

/// Control characters would break the line, bytes that are no UTF-8 whoever reads the log.
void append_escaped(std::string& out, bytes_view text) {
    while (!text.empty()) {
        const std::size_t size = utf8_size(text);
        const auto byte = static_cast<unsigned char>(text.front());
        if (size == 0 || byte < 0x20 || byte == 0x7f) {
            append_hex(out, text.front());
        } else {
            if (byte == '"' || byte == '\\') out += '\\';
            out += text.substr(0, size);
        }
        text.remove_prefix(size == 0 ? 1 : size);
    }
}

}  // namespace

std::string quoted(bytes_view text) {
    std::string out{'"'};
    append_escaped(out, text);
    out += '"';
    return out;
}

std::string readable(bytes_view text) {
    std::string out;
    while (!text.empty()) {
        const std::size_t size = utf8_size(text);
        if (size == 0) {
            append_hex(out, text.front());
        } else {
            if (text.front() == '\\') out += '\\';
            out += text.substr(0, size);
        }
        text.remove_prefix(size == 0 ? 1 : size);
    }
    return out;
}

std::string to_text(std::span<const label_view> labels, std::size_t bytes_max) {
    std::string out;
    for (const label_view& label : labels)
        if (label.name == "__name__") append_escaped(out, label.value.substr(0, bytes_max));
    std::string inner;
    for (const label_view& label : labels) {
        if (label.name == "__name__" || label.value.empty()) continue;
        if (!inner.empty()) inner += ',';
        if (out.size() + inner.size() > bytes_max) {
            inner += "...";
            break;
        }
        append_escaped(inner, label.name.substr(0, bytes_max));
        inner += "=\"";
        append_escaped(inner, label.value.substr(0, bytes_max));
        inner += '"';
    }
    if (inner.empty() && !out.empty()) return out;
    return out.append("{").append(inner).append("}");
}

}  // namespace seriesgate
