#include "series/text.hpp"

namespace seriesgate {
namespace {

void append_escaped(std::string& out, bytes_view text) {
    constexpr char digits[] = "0123456789abcdef";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (byte < 0x20 || byte == 0x7f) {
            out += "\\x";
            out += digits[byte >> 4];
            out += digits[byte & 15];
        } else {
            out += c;  // UTF-8 as it is
        }
    }
}

}  // namespace

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
