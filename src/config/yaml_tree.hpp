#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/yaml_fault.hpp"

/// YAML to plain values that know their lines. Knows nothing of what the keys mean.
namespace seriesgate {

enum class yaml_kind : std::uint8_t {
    text,     ///< a scalar, quoted or not
    nothing,  ///< `key:` without a value, or `key: null`
    list,
    map,
};

struct yaml_member;

struct yaml_value {
    yaml_kind kind = yaml_kind::nothing;
    std::size_t line = 0;              ///< from 1; 0 if unknown, as where nothing stands
    std::string text;                  ///< of kind text
    std::vector<yaml_value> items;     ///< of kind list
    std::vector<yaml_member> members;  ///< of kind map, in the order of the text, duplicates included

    std::vector<std::string> variables{};  ///< of the environment, that the text holds the values of
    bool is_unknown = false;               ///< of kind text, but which one could not be found out; told already
};

struct yaml_member {
    std::string name;  ///< as written
    std::size_t line;  ///< of the name
    yaml_value value;
};

struct yaml_tree {
    yaml_value root;                 ///< a map or nothing
    std::vector<yaml_fault> faults;  ///< what keeps the text, or a part of it, from being keys and values
};

/// Lists and maps that stand deeper than this have no items and members: no key looks there.
inline constexpr std::size_t yaml_depth_max = 8;

/// Aliases are written out, within bounds: a text of a few lines may stand for gigabytes, or for itself.
/// Threads: any. Does not throw on any text.
yaml_tree read_yaml(std::string_view text);

}  // namespace seriesgate
