#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

/// What of a YAML text can be told even where the text as a whole cannot be read: its quotes and its brackets.
namespace seriesgate {

struct yaml_quote {
    char sign;             ///< ' or "
    std::size_t line;      ///< where it opens, from 1
    std::size_t end_line;  ///< where it closes; 0 if it does not
    bool ends_value;       ///< whether nothing of the value stands behind it
};

struct yaml_bracket {
    char sign;  ///< [ or {
    std::size_t line;
};

struct yaml_scan {
    std::vector<yaml_quote> odd_quotes;       ///< those over several lines, and those with something behind them
    std::vector<yaml_bracket> open_brackets;  ///< that are never closed
};

/// Goes over a text once. Comments, block scalars and quotes amid a value are left alone.
yaml_scan scan_yaml(std::string_view text);

}  // namespace seriesgate
