#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "config/config.hpp"
#include "config/placed_value.hpp"

/// What is allowed and surely not meant. All are for configurations without errors, and warn at the value that they are
/// about.
namespace seriesgate {

/// What is doubtful about maxima; empty if nothing is.
std::string doubt_of_daily(const series_maxima& maxima);

/// What is doubtful about a maximum that is above the global one, `global_key`; empty if nothing is.
std::string doubt_of_reach(std::uint64_t maximum, std::uint64_t global, std::string_view global_key);

void doubt_ignore_labels(const placed_value& at, const config& read);
void doubt_tenant_overrides(const placed_value& at, const config& read);
void doubt_limits(const placed_value& at, const config& read);
void doubt_exempt(const placed_value& at, const config& read);

}  // namespace seriesgate
