#pragma once

#include <string>
#include <string_view>

/// What was probably meant by a value in units that are not ours, in units that are. All return an empty string if that
/// is not known.
namespace seriesgate {

/// "32 mib": `32MiB`; "1.5GiB": `1536MiB`. "32M" is one of two: `32MiB or 32MB`.
std::string size_meant(std::string_view text);

/// "90 min": `1h30m`; "1.5h", too; "1w": `7d`.
std::string duration_meant(std::string_view text);

/// "1%": `0.01`; "0,01", too.
std::string rate_meant(std::string_view text);

/// "yes", "On", "True": `true`; their opposites: `false`.
std::string flag_meant(std::string_view text);

}  // namespace seriesgate
