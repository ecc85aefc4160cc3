/// YAML: text to nodes, and nodes to text. Knows nothing of what the keys mean.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace seriesgate {

/// What keeps a text from being keys and values.
struct yaml_fault {
    std::size_t line;  ///< from 1; 0 if unknown
    std::string message;
};

struct yaml_document {
    YAML::Node root;                 ///< a map, or null
    std::vector<yaml_fault> faults;  ///< without any, the whole text has been read
};

/// Reads one document. Threads: any. Does not throw on any text.
yaml_document read_yaml(std::string_view text);

/// From 1; 0 if unknown, as where nothing stands.
std::size_t line_of(const YAML::Mark& mark) noexcept;

/// A value in one line, in the form with brackets: `{a: [b, 'c d']}`. Control characters are escaped.
std::string yaml_line(const YAML::Node& value);

/// A name or a value, in quotes where YAML needs them.
std::string yaml_scalar(std::string_view text);

/// A map as lines. Short values stand in one line; the map itself and the maps in it are sections.
/// read_yaml reads the same values from it. Bytes that are no UTF-8 stay as they are.
std::string yaml_text(const YAML::Node& map);

}  // namespace seriesgate
