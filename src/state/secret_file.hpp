/// Where the random bytes of this installation's hash key come from.
#pragma once

#include <string>

#include "state/state_directory.hpp"

namespace seriesgate {

/// Fresh ones from the system's generator, as many as a key wants at least. Throws std::runtime_error if there are
/// none.
std::string random_secret();

/// Those of a file that several gates share (`fingerprint.secretFile`): all its bytes count, at least
/// hash_key::random_bytes_min of them. Throws std::runtime_error with one readable line.
std::string read_secret(const std::string& path);

/// Those of the file `secret`, which is made, with mode 0600, if it is not there. Throws as read_secret.
std::string kept_secret(const state_directory& directory);

/// Writes them there, in place of what was.
void keep_secret(const state_directory& directory, const std::string& secret);

}  // namespace seriesgate
