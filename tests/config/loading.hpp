// A text becomes a configuration or lines of errors.
#pragma once

#include "config/load.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing {

using lines = std::vector<std::string>;

inline const overrides discard{{"upstream.url", "discard:"}};

/// Without the example that it ends with: those are tested in keys_test.cpp.
inline std::string without_example(const std::string& line) {
    return line.substr(0, line.find("; for example: "));
}

inline lines texts_of(const std::vector<config_error>& all) {
    lines texts;
    for (const config_error& each : all) texts.push_back(each.text());
    return texts;
}

/// All errors of a text, with an upstream so that only the text's own errors remain.
inline lines errors_of(std::string_view text, const overrides& flags = discard) {
    lines result = texts_of(load_config_text(text, "c.yaml", flags).errors);
    for (std::string& line : result) line = without_example(line);
    return result;
}

/// Checks that a text, to whose end a line end belongs, has this error on that line, and no other.
inline void check_error(const std::string& text, const std::string& expected, int line = 1,
                        const overrides& flags = discard) {
    CAPTURE(text);
    CHECK(errors_of(text + "\n", flags) == lines{"c.yaml:" + std::to_string(line) + ": " + expected});
}

inline config loaded(std::string_view text, const overrides& flags = discard) {
    const auto outcome = load_config_text(text, "c.yaml", flags);
    for (const config_error& error : outcome.errors) FAIL_CHECK(error.text());
    return outcome.value;
}

/// All warnings of a text that has no errors.
inline lines warnings_of(std::string_view text, const overrides& flags = discard) {
    const auto outcome = load_config_text(text, "c.yaml", flags);
    for (const config_error& error : outcome.errors) FAIL_CHECK(error.text());
    return texts_of(outcome.warnings);
}

/// The same as check_error of warnings.
inline void check_warning(const std::string& text, const std::string& expected, int line = 1,
                          const overrides& flags = discard) {
    CAPTURE(text);
    CHECK(warnings_of(text + "\n", flags) == lines{"c.yaml:" + std::to_string(line) + ": warning: " + expected});
}

}  // namespace seriesgate::testing
