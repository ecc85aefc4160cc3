#include "ingest/media.hpp"

#include "core/ascii.hpp"
#include "http/reply.hpp"
#include "net/field_text.hpp"

namespace seriesgate {
namespace {

/// Takes the text up to `separator` off the front.
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

/// Fills version or fault.
void read_type(std::string_view type, media& found) {
    std::string_view parameters = type;
    if (!equal_ignoring_case(take_until(parameters, ';'), "application/x-protobuf")) {
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
    if (found.version == protocol::v2 && type.find(";proto=io.prometheus.write.v2.Request") == std::string_view::npos)
        found.fault = "ambiguous Content-Type: write it as application/x-protobuf;proto=io.prometheus.write.v2.Request";
}

}  // namespace

media media_of(const http::fields& headers) {
    // The store might believe the other one of two statements.
    if (headers.count(http::field::content_type) > 1) return {.fault = "more than one Content-Type"};
    if (headers.count(http::field::content_encoding) > 1) return {.fault = "more than one Content-Encoding"};
    media found;
    if (const auto type = headers.find(http::field::content_type); type != headers.end())
        read_type(type->value(), found);
    const auto encoding = headers.find(http::field::content_encoding);
    if (!found.fault.empty() || encoding == headers.end()) return found;
    const std::string_view name = trimmed(encoding->value());
    if (equal_ignoring_case(name, "zstd"))
        found.coding = compression::zstd;
    else if (!equal_ignoring_case(name, "snappy"))
        found.fault = "unsupported Content-Encoding: remote write wants snappy, or zstd, not " + shown_in_answer(name);
    return found;
}

}  // namespace seriesgate
