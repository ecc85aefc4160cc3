#include "config/environment.hpp"

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <cstdlib>

#include "config/config_error.hpp"
#include "core/text.hpp"

namespace seriesgate {
namespace {

constexpr std::string_view opening = "${";
constexpr std::string_view escaped_opening = "$${";

}  // namespace

std::optional<std::string> variable_of_process(const std::string& name) {
    const char* const value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>{value};
}

bool has_variables(std::string_view text) noexcept {
    return text.find(opening) != std::string_view::npos;
}

std::string with_escaped_variables(const std::string& text) {
    return boost::replace_all_copy(text, opening, escaped_opening);
}

result<filled_text, std::string> variable_filler::fill(std::string_view text) {
    filled_text filled;
    while (!text.empty()) {
        if (text.starts_with(opening)) {
            if (std::string wrong = take_variable(text, filled); !wrong.empty()) return wrong;
            continue;
        }
        const bool is_escaped = text.starts_with(escaped_opening);
        filled.text += is_escaped ? opening : text.substr(0, 1);
        text.remove_prefix(is_escaped ? escaped_opening.size() : 1);
    }
    return filled;
}

/// @return what is wrong.
std::string variable_filler::take_variable(std::string_view& rest, filled_text& filled) {
    const auto end = rest.find('}');
    const std::string name{rest.substr(opening.size(), end - opening.size())};
    if (end == std::string_view::npos || !is_identifier(name))
        return in_quotes(rest.substr(0, end == std::string_view::npos ? end : end + 1)) +
               " names no variable, as ${NAME} does; for a ${ as it is write $${";
    const auto value = is_full_ ? std::string{} : (*variables_)(name);
    if (!value) return "the environment variable " + in_quotes(name) + " is not set";
    is_full_ = is_full_ || value->size() > bytes_left_;
    if (is_full_) return "is too large once its variables are filled in";
    bytes_left_ -= value->size();
    rest.remove_prefix(end + 1);
    filled.text += *value;
    if (std::ranges::count(filled.variables, name) == 0) filled.variables.push_back(name);
    return "";
}

}  // namespace seriesgate
