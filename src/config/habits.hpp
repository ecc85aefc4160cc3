#pragma once

#include <string_view>

/// What users of other programs are used to write.
namespace seriesgate {

/// Our key for a key or a flag of vmagent, Prometheus or Mimir, such as `upstream.url` for `remoteWrite.url`.
/// @param name without dashes in front. Case, '-' and '_' do not count.
/// @return empty if there is none.
std::string_view key_for_habit(std::string_view name);

}  // namespace seriesgate
