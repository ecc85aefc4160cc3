/// Single values as a file would have them: the way back from what scalars.hpp and endpoint.hpp read.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "config/config.hpp"

/// Read again, each gives an equal value.
namespace seriesgate {

std::string shown(bool value);
std::string shown(unsigned value);
std::string shown(std::uint64_t value);
std::string shown(double value);
std::string shown(std::chrono::milliseconds value);
std::string shown(const std::string& value);
std::string shown(limit_mode value);
std::string shown(limit_answer value);
std::string shown(upstream_protocol value);
std::string shown(upstream_host value);
std::string shown(log::format value);
std::string shown(log::level value);
std::string shown(const listen_address& value);
std::string shown(const host_port& value);
std::string shown(unavailable_answer value);
std::string shown(percentage value);
std::string shown(const std::optional<listen_address>& value);
/// Without its secrets: this one is not read again.
std::string shown(const secret_text& value);
/// Where the first store is, without secrets: upstream.url, or all of upstream.urls with commas, for people.
std::string shown_url(const upstream_config& value);
/// Bytes.
std::string shown_size(std::uint64_t value);

}  // namespace seriesgate
