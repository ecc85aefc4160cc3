/// The table of keys.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "config/placed_value.hpp"

namespace seriesgate {

/// When another value of a key takes effect.
enum class key_effect : std::uint8_t {
    at_reload,
    at_restart,  ///< what was made of it at the start cannot be changed while running
};

/// How a key is given on the command line, as `--name`.
struct key_flag {
    std::string_view value;  ///< what --help calls the value; empty: there is no flag
    std::string_view help;   ///< one line for --help
};

/// How a key gets at its part of the configuration.
struct key_access {
    /// Whether two configurations have the same there.
    bool (*same)(const config& one, const config& other);

    /// What would have to stand in a file for the configuration to have what it has there; secrets are left out.
    /// Nothing where another key says it.
    yaml_value (*show)(const config& from);

    /// For a key of one value: checks the text and writes it into the configuration.
    /// @return what is wrong, or an empty string.
    std::string (*assign)(std::string_view text, config& target) = nullptr;

    /// For a key of lists and maps: reads what stands there and tells what is wrong.
    void (*read)(const placed_value& at, config& target) = nullptr;
};

/// One key of the configuration.
struct config_key {
    std::string_view name;  ///< dotted
    key_effect effect;
    key_access access;
    key_flag flag{};
    std::string_view same_as{};  ///< a key before it that sets the same: a change is told as that one's
};

/// Every key there is, in the order of config/seriesgate.yaml, which is also the order in which they are read. The
/// loader, the command line, the reload and the tests of the documentation go by this table: a new key is a line here,
/// one in the example file and one in docs/configuration.md. Keys within `limits` and the like: see rule_keys.hpp.
std::span<const config_key> config_keys() noexcept;

}  // namespace seriesgate
