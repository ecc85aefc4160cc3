/// Budgets as people read them.
#pragma once

#include <string>
#include <string_view>

#include "limit/explain.hpp"

namespace seriesgate {

/// `maxHourlySeries 10000 is spent (10000 series admitted)`, with whose limit it is in front when it is not the global
/// one: `tenant "team-a": ...`, `limit per-namespace{namespace="x"}: ...`.
std::string to_text(const spent_budget& spent);

/// `enforce` or `observe`, as in the configuration.
std::string_view to_text(limit_mode mode) noexcept;

}  // namespace seriesgate
