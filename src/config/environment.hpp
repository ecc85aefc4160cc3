/// Environment variables, and `${NAME}` in a value, which stands for one of them.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace seriesgate {

/// @return the value of an environment variable; nothing if it is not set.
using environment = std::function<std::optional<std::string>(const std::string& name)>;

/// Of this process. Threads: any, as long as none changes it.
std::optional<std::string> variable_of_process(const std::string& name);

/// Whether a text may name variables.
bool has_variables(std::string_view text) noexcept;

/// `$${` for every `${`, so that it names no variable.
std::string with_escaped_variables(const std::string& text);

struct filled_text {
    std::vector<std::string> variables;  ///< their names, each once. First: a text alone is an error, not this
    std::string text;
};

/// Fills `${NAME}` in: a variable brings in text, never keys or lists. `$${` is a `${` as it is.
class variable_filler {
    const environment* variables_;
    /// For all texts together: a short one may name a long variable a hundred thousand times.
    std::size_t bytes_left_ = 4 << 20;
    bool is_full_ = false;

  public:
    /// @param variables must outlive this.
    explicit variable_filler(const environment& variables) noexcept : variables_(&variables) {}

    /// @return the text, or what is wrong with it.
    result<filled_text, std::string> fill(std::string_view text);

    /// Whether the variables were too long. Then nothing more is filled in.
    [[nodiscard]] bool is_full() const noexcept { return is_full_; }

  private:
    std::string take_variable(std::string_view& rest, filled_text& filled);
};

}  // namespace seriesgate
