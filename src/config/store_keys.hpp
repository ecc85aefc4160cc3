#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "config/placed_value.hpp"

/// The keys of a store: where it is, how it proves who it is, and what requests to it say of us. They stand in
/// `upstream`, for the first store, and in each item of `upstream.replicateTo`.
namespace seriesgate {

/// Every worker keeps connections to each of them.
inline constexpr std::size_t backends_max = 32;
inline constexpr std::size_t replicas_max = 8;
inline constexpr std::size_t store_headers_max = 32;

/// One URL of a store. Returns what is wrong, or an empty string.
std::string assign_backend(std::string_view text, store_backend& target);
/// Whether a request to one would be the same as to the other.
bool are_same(const store_backend& one, const store_backend& other);

/// `urls`.
void read_backends(const placed_value& at, store_config& target);
void read_store_tls(const placed_value& at, store_config& target);
/// The same for a store of another kind.
void read_tls_files(const placed_value& at, store_tls_config& target);
void read_basic_auth(const placed_value& at, store_config& target);
/// After `basicAuth`: a request has one Authorization header.
void read_bearer_token_file(const placed_value& at, store_config& target);
/// After the two above, for the same reason.
void read_store_headers(const placed_value& at, store_config& target);

/// `upstream.urls`, in place of `upstream.url`, which has been read before.
void read_upstream_backends(const placed_value& at, config& target);
/// After the first store.
void read_replicas(const placed_value& at, config& target);

/// The way back. Of maps, what is not given is not shown.
yaml_value show_backends(const std::vector<store_backend>& from);
yaml_value show_store_tls(const store_tls_config& from);
yaml_value show_basic_auth(const basic_auth_config& from);
/// Names; what the headers say is secret.
yaml_value show_store_headers(const std::map<std::string, secret_text, std::less<>>& from);
yaml_value show_replicas(const std::vector<replica_config>& from);

}  // namespace seriesgate
