#pragma once

#include <optional>

#include "config/config.hpp"
#include "config/placed_value.hpp"

/// The keys that are lists and maps, each with a grammar of its own. Called by the table of keys, after all that stand
/// above them there.
namespace seriesgate {

void read_hosts(const placed_value& at, config& target);
void read_forward_query(const placed_value& at, config& target);
void read_ignore_labels(const placed_value& at, config& target);
void read_top_labels(const placed_value& at, config& target);
void read_tenant_overrides(const placed_value& at, config& target);
void read_limits(const placed_value& at, config& target);
void read_exempt(const placed_value& at, config& target);

/// The way back: the lists and maps that are read to the same.
yaml_value show_forward_query(const config& from);
yaml_value show_ignore_labels(const config& from);
yaml_value show_hosts(const config& from);
yaml_value show_top_labels(const config& from);
yaml_value show_tenant_overrides(const config& from);
yaml_value show_limits(const config& from);
yaml_value show_exempt(const config& from);

/// Parts of these: an entry of `limits`, maxima, and those of a tenant with what its senders are told, if it says.
yaml_value show_limit(const label_limit& limit);
yaml_value show_maxima(const series_maxima& maxima);
yaml_value show_tenant(const series_maxima& maxima, const std::optional<limit_answer>& answer);

}  // namespace seriesgate
