#include "http/route_table.hpp"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>

#include "core/path_tenant.hpp"

namespace seriesgate {

route_table::route_table(std::vector<route> routes) : routes_(std::move(routes)) {
    for ([[maybe_unused]] const route& each : routes_) {
        assert(each.path.starts_with('/') && each.path.find('?') == std::string_view::npos);
        assert(!each.methods.empty());
        assert(each.answer);
        assert(find_tenant_mark(each.path) || find(each.path) == &each);  // no path twice
    }
}

route_table route_table::of(route_kind kind) const {
    std::vector<route> some;
    std::ranges::copy_if(routes_, std::back_inserter(some), [kind](const route& each) { return each.kind == kind; });
    return route_table{std::move(some)};
}

const route* route_table::find(std::string_view path) const noexcept {
    if (path.find('{') != std::string_view::npos) return nullptr;  // in no path that is meant as it is written
    const auto found = std::ranges::find(routes_, path, &route::path);
    return found == routes_.end() ? nullptr : &*found;
}

const route* route_table::find_by_tenant(std::string_view path, std::string& tenant) const {
    for (const route& each : routes_) {
        const auto pattern = find_tenant_mark(each.path);
        auto found = pattern ? tenant_in_path(path, *pattern) : std::nullopt;
        if (!found) continue;
        tenant = std::move(*found);
        return &each;
    }
    return nullptr;
}

}  // namespace seriesgate
