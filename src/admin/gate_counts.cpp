#include "admin/gate_counts.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cmath>

namespace seriesgate {
namespace {

/// Rounded down: 100 % only if nothing is missing.
std::string percent(std::uint64_t part, std::uint64_t whole) {
    const auto hundredths = std::floor(10'000.0 * static_cast<double>(part) / static_cast<double>(whole));
    return fmt::format("{:.{}f} %", hundredths / 100, part == whole ? 0 : 2);
}

}  // namespace

std::string to_text(const delivery_facts& facts) {
    if (facts.is_discarded) return "Samples are discarded on purpose, by upstream.url";
    if (facts.nothing_since) {
        std::string text =
            fmt::format("Nothing reaches the store since {:%H:%M} UTC", fmt::gmtime(*facts.nothing_since));
        return facts.why.empty() ? text : text.append(": ").append(facts.why);
    }
    const std::uint64_t all = facts.stored + facts.failed;
    if (all == 0) return "No sample went to the store in the last five minutes";
    return fmt::format("{} of samples stored in the last five minutes", percent(facts.stored, all));
}

}  // namespace seriesgate
