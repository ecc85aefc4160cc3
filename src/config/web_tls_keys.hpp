/// `tls_server_config` of the web configuration file.
#pragma once

#include <filesystem>

#include "config/placed_value.hpp"
#include "config/web_config.hpp"

namespace seriesgate {

/// Reads the section and tells what is wrong with it.
/// @param folder where relative paths begin.
void read_web_tls(const placed_value& at, const std::filesystem::path& folder, web_tls_config& target);

}  // namespace seriesgate
