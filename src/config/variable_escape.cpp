#include "config/variable_escape.hpp"

#include <cstddef>
#include <string>
#include <utility>

namespace seriesgate {

void escape_variables(yaml_value& value) {
    std::string escaped;
    for (std::size_t i = 0; i < value.text.size(); ++i) {
        if (value.text.compare(i, 2, "${") == 0) escaped += '$';
        escaped += value.text[i];
    }
    value.text = std::move(escaped);
    for (yaml_value& item : value.items) escape_variables(item);
    for (yaml_member& member : value.members) escape_variables(member.value);
}

}  // namespace seriesgate
