#pragma once

#include "config/config.hpp"
#include "config/own_address.hpp"
#include "config/placed_value.hpp"

/// What can be said of stores only when all keys have been read.
namespace seriesgate {

/// Reports backends that are the gate itself. @param at `upstream.urls`, which `store` was read from.
void check_own_backends(const placed_value& at, const store_config& store, const own_listener& ours);
/// The same. @param at `upstream.replicateTo`
void check_own_replicas(const placed_value& at, const upstream_config& upstream, const own_listener& ours);

/// Told: replicas that are the store, or one before them. @param at as above
void check_replicas_differ(const placed_value& at, const upstream_config& upstream);

/// What is allowed and surely not meant; for configurations without errors, see doubts.hpp.
void doubt_store_tls(const placed_value& at, const config& read);
void doubt_replicas(const placed_value& at, const config& read);

}  // namespace seriesgate
