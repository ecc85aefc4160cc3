#pragma once

#include "config/placed_value.hpp"
#include "config/web_config.hpp"

/// What can be said of a web configuration only when all keys have been read.
namespace seriesgate {

/// Told: names of users that there cannot be, and tenants that bind nobody.
void check_web_users(error_report& report, const web_config& read);

}  // namespace seriesgate
