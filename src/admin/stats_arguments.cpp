#include "admin/stats_arguments.hpp"

#include <charconv>
#include <optional>
#include <set>
#include <system_error>

#include "http/query.hpp"
#include "limit/rules.hpp"
#include "series/label.hpp"

namespace seriesgate {
namespace {

constexpr std::string_view possible =
    "/stats takes limit=N, tenant=NAME and name=NAME of a limit, each once at most and percent-encoded";

std::optional<std::uint64_t> whole_number(std::string_view text) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

/// @return what is wrong, or nothing.
std::string take_limit(std::string_view value, budget_choice& into) {
    const auto number = whole_number(value);
    if (!number) return "limit: expected a whole number, how many entries each list may have";
    into.shown_max = *number;
    return {};
}

/// The tenant as in the header; budget_name has it readable.
std::string take_tenant(std::string_view value, budget_choice& into) {
    if (value.size() > group_key_bytes_max)
        return "tenant: expected a name of at most " + std::to_string(group_key_bytes_max) + " bytes";
    into.tenant = readable(value);
    return {};
}

std::string take_name(std::string_view value, budget_choice& into) {
    if (value.empty() || value.size() > limit_name_bytes_max)
        return "name: expected the name of one of limits, of at most " + std::to_string(limit_name_bytes_max) +
               " bytes";
    into.limit = value;
    return {};
}

std::string take(const query_argument& argument, budget_choice& into) {
    if (argument.name == "limit") return take_limit(argument.value, into);
    if (argument.name == "tenant") return take_tenant(argument.value, into);
    if (argument.name == "name") return take_name(argument.value, into);
    return "unknown argument " +
           seriesgate::quoted(std::string_view{argument.name}.substr(0, argument_name_shown_bytes_max));
}

std::string fault(std::string_view what) {
    return std::string{what}.append("; ").append(possible);
}

}  // namespace

result<budget_choice, std::string> read_stats_arguments(std::string_view query) {
    const auto arguments = read_arguments(query);
    if (!arguments) return fault("the query has a ';', a '#', or a '%' without two hexadecimal digits behind it");
    budget_choice choice;
    std::set<std::string_view> seen;
    for (const query_argument& each : *arguments) {
        if (const std::string wrong = take(each, choice); !wrong.empty()) return fault(wrong);
        if (!seen.insert(each.name).second) return fault(each.name + ": comes twice");
    }
    return choice;
}

}  // namespace seriesgate
