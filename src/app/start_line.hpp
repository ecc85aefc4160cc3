/// The first line of the log: what was started, in words that need no documentation.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"

namespace seriesgate {

/// Where the gate listens.
struct listening_at {
    std::string senders;
    std::string people;  ///< may be the same
};

/// @param config_file empty: there is none.
void log_start(const config& settings, const listening_at& where, std::size_t threads, std::string_view config_file);

/// By what a sender shows who it is: "users, certificates", or "none".
std::string authentication_in_words(const web_config& web);

/// "each 1000 an hour, 5000 a day; 2 overrides"
std::string in_words(const tenant_limits& tenants);

/// How many, and the names of the first: "2: per-namespace, per-job (observe)"
std::string in_words(const std::vector<label_limit>& limits);

}  // namespace seriesgate
