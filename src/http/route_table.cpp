#include "http/route_table.hpp"

#include <algorithm>
#include <cassert>

namespace seriesgate {

route_table::route_table(std::initializer_list<route> routes) : routes_(routes) {
    for ([[maybe_unused]] const route& each : routes_) {
        assert(each.path.starts_with('/') && each.path.find('?') == std::string_view::npos);
        assert(!each.methods.empty());
        assert(each.answer);
        assert(find(each.path) == &each);  // no path twice
    }
}

const route* route_table::find(std::string_view path) const noexcept {
    const auto found = std::ranges::find(routes_, path, &route::path);
    return found == routes_.end() ? nullptr : &*found;
}

}  // namespace seriesgate
