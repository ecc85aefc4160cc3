/// Plain values to YAML: the way back from yaml_tree.hpp.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/yaml_tree.hpp"

namespace seriesgate {

yaml_value yaml_scalar(std::string text);
yaml_value yaml_list(std::vector<yaml_value> items);
yaml_value yaml_map(std::vector<yaml_member> members);
yaml_member yaml_entry(std::string_view name, yaml_value value);

/// A value in one line, in the form with brackets: `{a: [b, 'c d']}`. Control characters are escaped.
std::string yaml_line(const yaml_value& value);

/// A map as a text of lines, each ended. What is short stands in one line, but for sections: the map itself and the
/// maps in it.
/// read_yaml reads the same values from it. Bytes that are no UTF-8 stay as they are.
std::string yaml_text(const yaml_value& map);

}  // namespace seriesgate
