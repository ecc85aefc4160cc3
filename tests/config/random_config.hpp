// Configurations that nobody would write and that the loader takes.
#pragma once

#include "config/effective.hpp"
#include "config/loading.hpp"
#include "config/other_values.hpp"
#include "config/yaml.hpp"
#include "support/catch.hpp"
#include "support/fingerprints.hpp"

namespace seriesgate::testing {

class random_config {
    random_numbers random_;

  public:
    /// By key which of its possible values make() has taken.
    std::map<std::string, std::size_t, std::less<>> taken;

    explicit random_config(std::uint64_t seed) : random_(seed) {}

    /// Half of the keys have values. Those that an error names are left out again.
    config make() {
        values_of_keys chosen;
        for (const auto& [key, values] : possible_values())
            if (random_.one_in(2)) chosen.emplace(key, filled(values[taken[std::string{key}] = below(values.size())]));
        for (;;) {
            const bool has_upstream = chosen.contains("upstream.url") || chosen.contains("upstream.urls");
            const std::string file = yaml_of(chosen);
            load_outcome outcome = load_config_text(file, "random.yaml", has_upstream ? overrides{} : discard);
            std::erase_if(taken, [&](const auto& each) { return !chosen.contains(each.first); });
            if (outcome.ok()) return std::move(outcome.value);
            std::size_t left_out = 0;
            for (const config_error& error : outcome.errors)
                left_out += std::erase_if(chosen, [&](const auto& each) { return error.key.starts_with(each.first); });
            if (left_out == 0) FAIL(file);
        }
    }

    /// Text that has a meaning in YAML, or in a terminal, or none at all.
    std::string text() {
        static constexpr std::array<std::string_view, 40> parts{
            "a",      "namespace", "'",          "\"",   "\\",   ": ",   " #",   "{",   "}",      ",",
            "[",      "]",         "\n",         "\t",   "\r",   "\x01", "\x7f", "ä",   "\u0085", "€",
            "\u2028", "\ufeff",    "\U0001f600", "\xff", "\x90", "$",    "${A}", "${",  "null",   "~",
            "<<",     "- ",        "? ",         "|",    "&a",   "*a",   "!",    "%@`", "0",      " "};
        std::string made;
        for (std::size_t i = below(5); i > 0; --i) made += parts[below(parts.size())];
        if (random_.one_in(20)) made += '\0';
        if (random_.one_in(40)) made += std::string(400 + below(500), 'x');
        return made;
    }

  private:
    std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_.below(bound)); }

    /// See possible_values.
    std::string filled(std::string_view form) {
        std::string made;
        std::string last;
        for (;;) {
            const std::size_t begin = form.find('$');
            made += form.substr(0, begin);
            if (begin == std::string_view::npos) return made;
            form.remove_prefix(begin + 1);
            const std::string word{form.substr(0, form.find('$'))};
            form.remove_prefix(word.size() + 1);
            const std::string prefix = word.substr(0, word.size() < 4 ? 0 : word.size() - 4);
            if (word.ends_with("text"))
                made += file_scalar(last = prefix + text());
            else if (word.ends_with("name"))
                made += yaml_scalar(prefix + text());
            else if (word == "again")
                made += yaml_scalar(last);
            else
                made += word.empty() ? "$" : number(word);
        }
    }

    /// @param bounds such as `1-9`
    std::string number(const std::string& bounds) {
        const std::uint64_t min = std::stoull(bounds);
        return std::to_string(min + random_.below(std::stoull(bounds.substr(bounds.find('-') + 1)) - min + 1));
    }
};

}  // namespace seriesgate::testing
