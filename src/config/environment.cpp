#include "config/environment.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "config/decimals.hpp"
#include "config/wording.hpp"

namespace seriesgate {
namespace {

// Of all values together: a short text may name a long variable a hundred thousand times.
constexpr std::size_t filled_bytes_max = 4 << 20;
constexpr std::string_view opening = "${";
constexpr std::string_view escaped_opening = "$${";

bool is_variable_name(std::string_view name) noexcept {
    constexpr std::string_view characters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    return !name.empty() && name.find_first_not_of(characters) == std::string_view::npos &&
           !is_digits(name.substr(0, 1));
}

class variable_filler {
    const environment& variables_;
    error_report& report_;
    std::size_t bytes_left_ = filled_bytes_max;

  public:
    variable_filler(const environment& variables, error_report& report) : variables_(variables), report_(report) {}

    void fill(yaml_value& at, const std::string& key, std::size_t line) {
        if (is_cut()) return;
        if (at.kind == yaml_kind::text && at.text.find(opening) != std::string::npos) fill_text(at, key, line);
        for (std::size_t i = 0; i < at.items.size(); ++i) {
            yaml_value& item = at.items[i];
            fill(item, key_of_item(key, i), item.line == 0 ? line : item.line);
        }
        for (yaml_member& member : at.members) {
            const std::string below = key_below(key, member.name);
            if (member.name.find(opening) != std::string::npos)
                report_.warn(member.line, below,
                             "is taken as it stands: variables are filled in in values, not in keys");
            fill(member.value, below, member.line);
        }
    }

    [[nodiscard]] bool is_cut() const noexcept { return bytes_left_ == 0; }

  private:
    void fill_text(yaml_value& at, const std::string& key, std::size_t line) {
        std::string filled;
        for (std::string_view rest = at.text; !rest.empty();) {
            if (rest.starts_with(opening)) {
                if (std::string wrong = take_variable(rest, filled, at.variables); !wrong.empty()) {
                    at.is_unknown = true;
                    return report_.add(line, key, std::move(wrong));
                }
                if (is_cut()) return;
                continue;
            }
            const bool is_escaped = rest.starts_with(escaped_opening);
            filled += is_escaped ? opening : rest.substr(0, 1);
            rest.remove_prefix(is_escaped ? escaped_opening.size() : 1);
        }
        bytes_left_ -= std::min(bytes_left_, filled.size());
        if (!is_cut()) at.text = std::move(filled);
    }

    /// @return what is wrong.
    std::string take_variable(std::string_view& rest, std::string& filled, std::vector<std::string>& names) {
        const auto end = rest.find('}');
        const std::string name{rest.substr(opening.size(), end - opening.size())};
        if (end == std::string_view::npos || !is_variable_name(name))
            return in_quotes(rest.substr(0, end == std::string_view::npos ? end : end + 1)) +
                   " names no variable, as ${NAME} does; for a ${ as it is write $${";
        const auto value = variables_(name);
        if (!value) return "the environment variable " + in_quotes(name) + " is not set";
        rest.remove_prefix(end + 1);
        if (filled.size() + value->size() <= filled_bytes_max)
            filled += *value;
        else
            bytes_left_ = 0;
        if (std::ranges::count(names, name) == 0) names.push_back(name);
        return "";
    }
};

}  // namespace

std::optional<std::string> variable_of_process(const std::string& name) {
    const char* const value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>{value};
}

void fill_variables(yaml_value& root, const environment& variables, error_report& report) {
    variable_filler filler{variables, report};
    filler.fill(root, "", 0);
    if (filler.is_cut()) report.add(0, "", "is too large once its variables are filled in");
}

}  // namespace seriesgate
