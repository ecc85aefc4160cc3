/// What a budget is filed under: some texts joined so that no two lists of them give the same key.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace seriesgate {

/// A longer key is none: its series share the overflow budget. No real namespace or tenant is that long, and keys are
/// kept in memory.
inline constexpr std::size_t group_key_bytes_max = 1024;

/// Each part stands behind its length as a varint.
void append_key_part(std::string& key, std::string_view part);
std::size_t key_part_bytes(std::string_view part) noexcept;

/// Takes the first part off the key. @return nothing, and the key as it was, if it is not one of ours.
std::optional<std::string_view> take_key_part(std::string_view& key) noexcept;

/// All parts; those of a damaged key as far as it can be read.
std::vector<std::string> split_key(std::string_view key);

}  // namespace seriesgate
