#include "limit/limit_names.hpp"

#include <algorithm>
#include <cassert>

namespace seriesgate {

std::vector<limit_number> limit_names::numbers_of(const std::vector<std::string_view>& names) {
    const std::scoped_lock held{lock_};
    std::vector<limit_number> numbers;
    numbers.reserve(names.size());
    for (const std::string_view name : names) numbers.push_back(number_of(name));
    return numbers;
}

limit_number limit_names::number_of(std::string_view name) {
    const auto known = std::ranges::find(names_, name);
    if (known == names_.end() && names_.size() == limit_numbers_max) return other_limit;
    const auto number = static_cast<limit_number>(known - names_.begin());
    if (known == names_.end()) names_.emplace_back(name);
    return number;
}

const std::string& limit_names::name_of(limit_number number) const {
    const std::scoped_lock held{lock_};
    assert(number < names_.size());
    return names_[number];
}

}  // namespace seriesgate
