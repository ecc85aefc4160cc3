/// What is asked of /stats behind its '?'.
#pragma once

#include <string>
#include <string_view>

#include "admin/budget_choice.hpp"
#include "core/result.hpp"

namespace seriesgate {

/// `limit=N`, `tenant=NAME` and `name=NAME OF A LIMIT`, each once at most.
/// @return or what is wrong, and what is possible: one line. Linear in the bytes; what it keeps is bounded.
result<budget_choice, std::string> read_stats_arguments(std::string_view query);

}  // namespace seriesgate
