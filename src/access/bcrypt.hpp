/// Passwords as Prometheus hashes them.
#pragma once

#include <string>

namespace seriesgate {

/// The bytes that it looks at; what is behind them counts for nothing.
inline constexpr std::size_t bcrypt_bytes_max = 72;

/// Whether this is the password. Takes 2^cost rounds: 50 ms and more.
/// @param hash of the form that load_web_config lets pass.
/// Threads: any; 32 KiB of memory while it works.
bool bcrypt_matches(const std::string& password, const std::string& hash);

/// The cost of a hash. @param hash as above.
int bcrypt_cost(const std::string& hash);

/// A hash that no password is known for.
std::string bcrypt_of_nobody(int cost);

}  // namespace seriesgate
