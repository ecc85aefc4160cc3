#include "upstream/name_health.hpp"

#include <utility>

namespace seriesgate {

std::optional<name_health::news> name_health::looked_up(error_code error, clock::time_point now) {
    const auto held = state_.lock();
    const auto lasted = [&] { return std::chrono::duration_cast<std::chrono::milliseconds>(now - held->since); };
    const bool was_well = held->fault.empty();
    if (!error) {
        held->fault.clear();
        if (was_well || !std::exchange(held->told, false)) return std::nullopt;
        return news{.resolves = true, .lasted = lasted()};
    }
    if (was_well) held->since = now;
    held->fault = error.message();
    if (!held->line.count(1, now)) return std::nullopt;
    held->told = true;
    return news{.resolves = false, .lasted = lasted()};
}

std::string name_health::fault() {
    return state_.lock()->fault;
}

}  // namespace seriesgate
