#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// YAML to a flat list of keys and texts. Knows nothing of what the keys mean.
namespace seriesgate {

enum class yaml_kind : std::uint8_t {
    text,     ///< a scalar, quoted or not
    nothing,  ///< `key:` without a value, or `key: null`
    list,
    map,  ///< as the value of a key that is no section
};

struct yaml_entry {
    std::string section;  ///< empty at the top level; the keys of a section follow the section itself
    std::string name;     ///< as written
    std::string value;    ///< of kind text
    yaml_kind kind;
    std::size_t line;  ///< of the key, from 1

    /// Dotted, such as `upstream.timeout`.
    std::string key() const { return section.empty() ? name : section + "." + name; }
};

struct yaml_fault {
    std::size_t line;  ///< from 1; 0 if unknown
    std::string message;
};

struct yaml_entries {
    std::vector<yaml_entry> entries;  ///< in the order of the text, duplicates included
    std::vector<yaml_fault> faults;   ///< what keeps the text, or a part of it, from being keys and values
};

/// @param sections the keys below which further keys stand. One level: a section within a section is a plain map.
/// Threads: any. Does not throw on any text.
yaml_entries read_yaml(std::string_view text, std::span<const std::string_view> sections);

}  // namespace seriesgate
