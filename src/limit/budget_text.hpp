/// Budgets as people read them.
#pragma once

#include <string>
#include <string_view>

#include "limit/explain.hpp"

namespace seriesgate {

/// `maxHourlySeries 10000 is spent (10000 series admitted)`, with whose limit it is in front when it is not the global
/// one: `tenant "team-a": ...`, `limit per-namespace{namespace="x"}: ...`.
std::string to_text(const spent_budget& spent);

/// Whose it is: `tenant "team-a"`, `limit per-namespace{namespace="x"} of tenant "team-a"`; empty for the global one.
std::string owner_text(const budget_name& name);

/// `{namespace="x"}`, cut to about 256 bytes; empty if the limit has no groups.
std::string cut_group_text(const budget_name& name);

/// The same, whole: two groups that differ never look the same. A group with a budget of its own is short
/// (budget_book.cpp).
std::string group_text(const budget_name& name);

/// What has to be known of it beside its name: that many share it, and why. Empty for all others.
std::string_view note_on(const budget_name& name) noexcept;

/// `hourly` or `daily`.
std::string_view to_text(refusing_window window) noexcept;

/// `enforce` or `observe`, as in the configuration.
std::string_view to_text(limit_mode mode) noexcept;

}  // namespace seriesgate
