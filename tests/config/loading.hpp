// A text becomes a configuration or lines of errors.
#pragma once

#include "config/load.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing {

using lines = std::vector<std::string>;

inline const overrides discard{{"upstream.url", "discard:"}};

/// Without the example that it ends with: those are tested in shapes_test.cpp.
inline std::string without_example(const std::string& line) {
    return line.substr(0, line.find("; for example: "));
}

/// All errors of a text, with an upstream so that only the text's own errors remain.
inline lines errors_of(std::string_view text, const overrides& flags = discard) {
    lines result;
    for (const config_error& error : load_config_text(text, "c.yaml", flags).errors)
        result.push_back(without_example(error.text()));
    return result;
}

inline config loaded(std::string_view text, const overrides& flags = discard) {
    const auto outcome = load_config_text(text, "c.yaml", flags);
    for (const config_error& error : outcome.errors) FAIL_CHECK(error.text());
    return outcome.value;
}

}  // namespace seriesgate::testing
