#pragma once

#include <string_view>

/// What the file's sections, lists and maps look like.
namespace seriesgate {

/// An example of a key with its value, in one line of YAML that stands below the key's section.
/// @param key as errors call it, such as `limits[2].overrides[0].group`.
/// @return empty if there is none for it.
std::string_view shape_of(std::string_view key);

}  // namespace seriesgate
