#include "ingest/body_format.hpp"

#include <cstddef>

#include "core/text.hpp"
#include "http/route_table.hpp"

namespace seriesgate {
namespace {

/// Removes the text before `separator`, and `separator`, from the front of `text`. @return that text, trimmed.
std::string_view take_until(std::string_view& text, char separator) {
    const auto at = text.find(separator);
    const std::string_view front = text.substr(0, at);
    text = at == std::string_view::npos ? std::string_view{} : text.substr(at + 1);
    return trimmed(front);
}

std::string_view unquoted(std::string_view text) {
    return text.size() >= 2 && text.front() == '"' && text.back() == '"' ? text.substr(1, text.size() - 2) : text;
}

constexpr std::string_view v1_message = "prometheus.WriteRequest";
constexpr std::string_view v2_message = "io.prometheus.write.v2.Request";

/// Spellings that every store reads alike.
constexpr std::string_view plain_type = "application/x-protobuf";
constexpr std::string_view v1_type = "application/x-protobuf;proto=prometheus.WriteRequest";
constexpr std::string_view v2_type = "application/x-protobuf;proto=io.prometheus.write.v2.Request";

bool is_protobuf(std::string_view type) {
    return equal_ignoring_case(type, plain_type) || equal_ignoring_case(type, "application/vnd.google.protobuf");
}

/// Sets version, and content_type if it needs another spelling; or fault.
void read_type(std::string_view type, body_format& found) {
    std::string_view parameters = type;
    if (!type.empty() && !is_protobuf(take_until(parameters, ';'))) {
        found.fault =
            "unsupported Content-Type: remote write wants application/x-protobuf, not " + shown_in_answer(type);
        return;
    }
    unsigned messages = 0;
    while (!parameters.empty() && found.fault.empty()) {
        std::string_view value = take_until(parameters, ';');
        if (!equal_ignoring_case(take_until(value, '='), "proto")) continue;
        const std::string_view message = unquoted(trimmed(value));
        if (++messages > 1) {
            found.fault = "more than one protobuf message in Content-Type";
        } else if (message == v2_message) {
            found.version = protocol::v2;
        } else if (message != v1_message) {
            found.fault =
                "unsupported protobuf message in Content-Type: remote write is prometheus.WriteRequest or "
                "io.prometheus.write.v2.Request, not " +
                shown_in_answer(message);
        }
    }
    if (found.version == protocol::v2 && type != v2_type) found.content_type = v2_type;
    if (found.version == protocol::v1 && type != plain_type && type != v1_type) found.content_type = plain_type;
}

constexpr std::string_view name_of(compression coding) {
    return coding == compression::zstd ? "zstd" : "snappy";
}

/// Sets coding from the header, or fault.
void read_encoding(std::string_view list, body_format& found) {
    std::size_t names = 0;
    for_each_item(list, [&](std::string_view name) {
        const bool is_zstd = equal_ignoring_case(name, "zstd");
        if (++names > 1 || !(is_zstd || equal_ignoring_case(name, "snappy")))
            found.fault = "unsupported Content-Encoding: remote write wants snappy, or zstd, not " +
                          shown_in_answer(trimmed(list));
        if (is_zstd) found.coding = compression::zstd;
        return found.fault.empty();
    });
}

/// Whether a body begins like a zstd frame or a skippable frame. No valid snappy block begins like that: its first
/// number would be its size (40, or 80 to 95), followed by a copy from 1327, or 6221, bytes before its first byte. So
/// no body is valid in both, and nothing has to be tried.
/// Source: RFC 8878, sections 3.1.1 and 3.1.2; google/snappy format_description.txt.
bool begins_as_zstd(bytes_view body) {
    if (body.starts_with(bytes_view{"\x28\xb5\x2f\xfd", 4})) return true;
    return body.size() >= 4 && (static_cast<unsigned char>(body[0]) & 0xf0u) == 0x50u &&
           body.substr(1, 3) == bytes_view{"\x2a\x4d\x18", 3};
}

}  // namespace

body_format body_format_of(const http::fields& headers, bytes_view body) {
    // With two headers, the store might read the other one.
    if (headers.count(http::field::content_type) > 1) return {.fault = "more than one Content-Type"};
    if (headers.count(http::field::content_encoding) > 1) return {.fault = "more than one Content-Encoding"};
    body_format found;
    const auto type = headers.find(http::field::content_type);
    if (type != headers.end()) read_type(type->value(), found);
    const auto encoding = headers.find(http::field::content_encoding);
    if (encoding != headers.end() && found.fault.empty()) read_encoding(encoding->value(), found);
    if (!found.fault.empty()) return found;
    if (!body.empty()) found.coding = begins_as_zstd(body) ? compression::zstd : compression::snappy;
    const std::string_view coding = name_of(found.coding);
    const std::string_view named = encoding == headers.end() ? "snappy" : std::string_view{encoding->value()};
    if (named != coding) found.content_encoding = coding;
    return found;
}

}  // namespace seriesgate
