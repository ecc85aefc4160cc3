#include "http/route_table.hpp"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>

namespace seriesgate {

route_table::route_table(std::vector<route> routes) : routes_(std::move(routes)) {
    for ([[maybe_unused]] const route& each : routes_) {
        assert(each.path.starts_with('/') && each.path.find('?') == std::string_view::npos);
        assert(!each.methods.empty());
        assert(each.answer);
        assert(find(each.path) == &each);  // no path twice
    }
}

route_table route_table::of(route_kind kind) const {
    std::vector<route> some;
    std::ranges::copy_if(routes_, std::back_inserter(some), [kind](const route& each) { return each.kind == kind; });
    return route_table{std::move(some)};
}

const route* route_table::find(std::string_view path) const noexcept {
    const auto found = std::ranges::find(routes_, path, &route::path);
    return found == routes_.end() ? nullptr : &*found;
}

}  // namespace seriesgate
