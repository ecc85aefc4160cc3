#include "upstream/loop_detection.hpp"

#include <fmt/format.h>

#include <string>

#include "base/random.hpp"
#include "core/text.hpp"

namespace seriesgate {
namespace {

constexpr std::string_view product = "seriesgate";

/// `host` of a Via item such as `HTTP/1.1 host:80 (comment)`; empty if there is none.
std::string_view received_by(std::string_view item) {
    const auto version_end = item.find_first_of(" \t");
    if (version_end == std::string_view::npos) return {};
    const std::string_view rest = trimmed(item.substr(version_end));
    return rest.substr(0, rest.find_first_of(" \t:"));
}

/// `seriesgate-...`, or `seriesgate` as releases before 0.2 called themselves.
bool is_gate(std::string_view name) {
    return equal_ignoring_case(name.substr(0, product.size()), product) &&
           (name.size() == product.size() || name[product.size()] == '-');
}

}  // namespace

std::string_view own_via() {
    static const std::string text = fmt::format("1.1 {}-{:x}", product, random_number());
    return text;
}

bool is_request_loop(const http::fields& headers) {
    const std::string_view own_name = received_by(own_via());
    std::size_t gates = 0;
    bool been_here = false;
    const auto [first, last] = headers.equal_range(http::field::via);
    for (auto line = first; line != last; ++line)
        for_each_item(line->value(), [&](std::string_view item) {
            const std::string_view name = received_by(item);
            if (is_gate(name)) ++gates;
            been_here = been_here || equal_ignoring_case(name, own_name);
            return !been_here && gates < gates_max;
        });
    return been_here || gates >= gates_max;
}

}  // namespace seriesgate
