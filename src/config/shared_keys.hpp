#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "config/config.hpp"
#include "config/placed_value.hpp"

/// The keys of `shared`. Those that assign return what is wrong, or an empty string; then, and only then, they have
/// written the target.
namespace seriesgate {

/// They are asked one after the other.
inline constexpr std::size_t sentinels_max = 16;
inline constexpr std::size_t namespace_bytes_max = 64;

/// `shared.url`, which may be empty: then it says nothing.
std::string assign_shared_url(std::string_view text, shared_config& target);
/// 1 to 64 letters, digits, `_`, `.` and `-`: it becomes a part of every key in the store.
std::string assign_namespace(std::string_view text, std::string& target);
/// A user of the store's ACL. May be empty.
std::string assign_store_user(std::string_view text, std::string& target);
/// The name by which sentinels know the master. May be empty.
std::string assign_sentinel_master(std::string_view text, std::string& target);
/// `local`, `refuse` or `admit`.
std::string assign_unavailable(std::string_view text, unavailable_answer& target);

/// `shared.sentinel.addresses`, each once.
void read_sentinel_addresses(const placed_value& at, config& target);
void read_shared_tls(const placed_value& at, config& target);

/// The way back.
yaml_value show_sentinel_addresses(const config& from);
yaml_value show_shared_tls(const config& from);

}  // namespace seriesgate
