#include "config/shown.hpp"

#include "config/units.hpp"

namespace seriesgate {

std::string shown(bool value) {
    return value ? "true" : "false";
}

std::string shown(unsigned value) {
    return std::to_string(value);
}

std::string shown(std::uint64_t value) {
    return std::to_string(value);
}

std::string shown(double value) {
    return format_rate(value);
}

std::string shown(std::chrono::milliseconds value) {
    return format_duration(value);
}

std::string shown(const std::string& value) {
    return value;
}

std::string shown(limit_mode value) {
    return value == limit_mode::observe ? "observe" : "enforce";
}

std::string shown(limit_answer value) {
    return value == limit_answer::reject ? "reject" : "drop";
}

std::string shown(upstream_protocol value) {
    return value == upstream_protocol::v1 ? "v1" : "passthrough";
}

std::string shown(upstream_host value) {
    return value == upstream_host::sender ? "sender" : "url";
}

std::string shown(log::format value) {
    return value == log::format::json ? "json" : "logfmt";
}

std::string shown(log::level value) {
    return std::string{log::name_of(value)};
}

std::string shown(const listen_address& value) {
    if (!value.unix_path.empty()) return "unix:" + value.unix_path;
    const bool is_ipv6 = value.host.find(':') != std::string::npos;
    return (is_ipv6 ? "[" + value.host + "]" : value.host) + ":" + std::to_string(value.port);
}

std::string shown(const host_port& value) {
    return shown(listen_address{.host = value.host, .port = value.port, .unix_path = {}});
}

std::string shown(unavailable_answer value) {
    switch (value) {
        case unavailable_answer::refuse:
            return "refuse";
        case unavailable_answer::admit:
            return "admit";
        case unavailable_answer::local:
            break;
    }
    return "local";
}

std::string shown(percentage value) {
    std::string text = std::to_string(value.hundredths / 100);
    std::string fraction = std::to_string(100 + value.hundredths % 100).substr(1);
    while (fraction.ends_with('0')) fraction.pop_back();
    if (!fraction.empty()) text += "." + fraction;
    return text + "%";
}

std::string shown(const std::optional<listen_address>& value) {
    return value ? shown(*value) : std::string{};
}

std::string shown(const secret_text& value) {
    return without_secrets(value.reveal());
}

std::string shown_url(const upstream_config& value) {
    if (value.discard) return "discard:";
    std::string urls;
    for (const store_backend& backend : value.store.backends)
        urls.append(urls.empty() ? "" : ", ").append(shown(backend.url));
    return urls;
}

std::string shown_size(std::uint64_t value) {
    return format_size(value);
}

}  // namespace seriesgate
