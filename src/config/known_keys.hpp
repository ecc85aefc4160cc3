#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/member_path.hpp"
#include "config/placed_value.hpp"

/// Maps whose keys we define: which of them are there, and what does not belong.
namespace seriesgate {

struct known_key {
    std::optional<placed_value> value;
    bool faulty = false;  ///< it is there in a wrong way, and that has been told
};

struct known_keys {
    std::vector<known_key> keys;                            ///< one for every name, in their order
    std::map<std::string, std::size_t, std::less<>> lines;  ///< of all keys and sections, by their dotted names
};

/// Sorts the members of a map by a table of names. Told: unknown keys and the likely ones, keys that come twice, a
/// section that is something else. A map that is missing is an empty one.
/// @param names of all keys. A dotted one, `upstream.timeout`, stands as `timeout` in the section `upstream`.
known_keys match_keys(const placed_value& map, std::span<const std::string_view> names);

enum class presence : std::uint8_t { optional, required };

/// One key of a map that becomes a T.
template <typename T>
struct field {
    std::string_view name;
    void (*read)(const placed_value& at, T& target);
    presence needed = presence::optional;
};

/// For a field: what `read` makes of its value goes into the member at the end of `path`.
template <auto read, auto... path, typename T>
void into(const placed_value& at, T& target) {
    read(at, member<path...>(target));
}

/// Reads a map by a table of its keys. They are read in the order of the table, whatever that of the file, so that one
/// may rely on those above it.
template <typename T, std::size_t count>
void read_fields(const placed_value& map, const std::array<field<T>, count>& fields, T& target) {
    std::array<std::string_view, count> names;
    for (std::size_t i = 0; i < count; ++i) names[i] = fields[i].name;
    const known_keys known = match_keys(map, names);
    for (std::size_t i = 0; i < count; ++i) {
        const known_key& key = known.keys[i];
        if (key.value) {
            fields[i].read(*key.value, target);
        } else if (fields[i].needed == presence::required && !key.faulty) {
            map.fail_below(fields[i].name, "is required");
        }
    }
}

}  // namespace seriesgate
