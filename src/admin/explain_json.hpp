/// The answer of GET /api/v1/explain.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "admin/asked_series.hpp"
#include "limit/explain.hpp"

namespace seriesgate {

class series_limiter;

/// JSON with the keys of docs/api.md. @param said nothing: the rules would take too long. Threads: any.
std::string explain_json(const series_limiter& limiter, const series_labels& series, std::string_view tenant,
                         const std::optional<explanation>& said);

}  // namespace seriesgate
