#include "upstream/hop_fields.hpp"

#include <algorithm>
#include <array>

#include "core/text.hpp"
#include "net/http_fields.hpp"

namespace seriesgate {
namespace {

constexpr std::array<std::string_view, 7> never_of_one_hop{"Content-Type",
                                                           "Content-Encoding",
                                                           "Authorization",
                                                           "X-Prometheus-Remote-Write-Version",
                                                           "X-Scope-OrgID",
                                                           "THANOS-TENANT",
                                                           "Via"};

bool decides(std::string_view name, std::string_view tenant_header) {
    return equal_ignoring_case(name, tenant_header) ||
           std::ranges::any_of(never_of_one_hop,
                               [name](std::string_view other) { return equal_ignoring_case(name, other); });
}

}  // namespace

hop_fields::hop_fields(const http::fields& headers, std::string_view tenant_header) {
    const auto [first, last] = headers.equal_range(http::field::connection);
    for (auto line = first; line != last && names_.size() < names_max; ++line)
        for_each_item(line->value(), [&](std::string_view name) {
            if (!decides(name, tenant_header)) names_.push_back(name);
            return names_.size() < names_max;
        });
    std::ranges::sort(names_, name_before);
}

bool hop_fields::contain(std::string_view name) const {
    return std::ranges::binary_search(names_, name, name_before);
}

}  // namespace seriesgate
