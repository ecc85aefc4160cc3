#pragma once

#include <string_view>

/// What users of other programs are used to write.
namespace seriesgate {

/// Our key for a key or a flag of vmagent, Prometheus or Mimir, such as `upstream.url` for `remoteWrite.url`.
/// @param name without dashes in front. Case, '-' and '_' do not count.
/// @return empty if there is none.
std::string_view key_for_habit(std::string_view name);

/// Why a key or a flag of theirs has no counterpart, and what to do instead; empty if there is nothing to say.
/// @param name as above, or of a key below others, its last part.
std::string_view refusal_of_habit(std::string_view name);

}  // namespace seriesgate
