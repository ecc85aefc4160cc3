#include "handover/watchdog.hpp"

#include <charconv>
#include <cstdint>

namespace seriesgate {

std::optional<std::chrono::microseconds> watchdog_limit(std::string_view usec, std::string_view pid,
                                                        std::string_view self) noexcept {
    if (!pid.empty() && pid != self) return std::nullopt;
    std::int64_t count = 0;
    const char* const end = usec.data() + usec.size();
    const auto [stopped, fault] = std::from_chars(usec.data(), end, count);
    if (fault != std::errc{} || stopped != end || count <= 0) return std::nullopt;
    return std::chrono::microseconds{count};
}

}  // namespace seriesgate
