#pragma once

#include "config/config.hpp"
#include "config/placed_value.hpp"

/// The keys that are lists and maps, each with a grammar of its own. Called by the table of keys, after all that stand
/// above them there.
namespace seriesgate {

void read_forward_query(const placed_value& at, config& target);
void read_ignore_labels(const placed_value& at, config& target);
void read_tenant_overrides(const placed_value& at, config& target);
void read_limits(const placed_value& at, config& target);
void read_exempt(const placed_value& at, config& target);

}  // namespace seriesgate
