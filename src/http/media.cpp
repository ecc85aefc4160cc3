#include "http/media.hpp"

#include <boost/beast/core/string.hpp>

namespace seriesgate {
namespace {

using boost::beast::iequals;

std::string_view trim(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Takes the text up to `separator` off the front.
std::string_view take_until(std::string_view& text, char separator) {
    const auto at = text.find(separator);
    const std::string_view front = text.substr(0, at);
    text = at == std::string_view::npos ? std::string_view{} : text.substr(at + 1);
    return trim(front);
}

std::string_view unquoted(std::string_view text) {
    return text.size() >= 2 && text.front() == '"' && text.back() == '"' ? text.substr(1, text.size() - 2) : text;
}

std::string_view type_fault(std::string_view parameters) {
    if (!iequals(take_until(parameters, ';'), "application/x-protobuf"))
        return "unsupported Content-Type: remote write wants application/x-protobuf";
    while (!parameters.empty()) {
        std::string_view value = take_until(parameters, ';');
        const std::string_view name = take_until(value, '=');
        if (iequals(name, "proto") && unquoted(trim(value)) != "prometheus.WriteRequest")
            return "unsupported protobuf message in Content-Type: this receiver knows prometheus.WriteRequest (remote "
                   "write 1)";
    }
    return {};
}

}  // namespace

media media_of(const http::fields& headers) {
    // The store might believe the other one of two statements.
    if (headers.count(http::field::content_type) > 1) return {.fault = "more than one Content-Type"};
    if (headers.count(http::field::content_encoding) > 1) return {.fault = "more than one Content-Encoding"};
    media found;
    if (const auto type = headers.find(http::field::content_type); type != headers.end())
        found.fault = type_fault(type->value());
    const auto encoding = headers.find(http::field::content_encoding);
    if (!found.fault.empty() || encoding == headers.end()) return found;
    const std::string_view name = trim(encoding->value());
    if (iequals(name, "zstd"))
        found.coding = compression::zstd;
    else if (!iequals(name, "snappy"))
        found.fault = "unsupported Content-Encoding: remote write wants snappy, or zstd";
    return found;
}

}  // namespace seriesgate
