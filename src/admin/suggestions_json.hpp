/// The answer of GET /api/v1/suggestions.
#pragma once

#include <string>

#include "demand/suggestions.hpp"
#include "limit/rules.hpp"

namespace seriesgate {

/// JSON with the keys of docs/api.md. @param rules by which they were made. Threads: any.
std::string suggestions_json(const suggestion_list& list, const limit_rules& rules);

}  // namespace seriesgate
