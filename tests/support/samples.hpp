/// What a page of metrics has to say, written shorter.
#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <sstream>
#include <string>
#include <string_view>

namespace seriesgate::testing {

/// The lines of a page without comments, and without those that have one of these words.
inline std::string samples_of(const std::string& page, std::initializer_list<std::string_view> left_out = {}) {
    std::istringstream lines{page};
    std::string samples;
    for (std::string line; std::getline(lines, line);) {
        bool is_shown = !line.starts_with('#');
        for (const std::string_view word : left_out) is_shown = is_shown && line.find(word) == std::string::npos;
        if (is_shown) samples += line + '\n';
    }
    return samples;
}

/// The lines of a family, for "one 1 two 2" one for each value of its label.
inline std::string family(std::string_view name, std::string_view label, const std::string& values) {
    std::istringstream words{values};
    std::string text;
    for (std::string value, count; words >> value >> count;)
        text += fmt::format("seriesgate_{}{{{}=\"{}\"}} {}\n", name, label, value, count);
    return text;
}

/// The lines of metrics without a label.
inline std::string plain(const std::string& values) {
    std::istringstream words{values};
    std::string text;
    for (std::string name, count; words >> name >> count;) text += fmt::format("seriesgate_{} {}\n", name, count);
    return text;
}

}  // namespace seriesgate::testing
