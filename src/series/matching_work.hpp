/// What it costs to match selectors, so that who asks for much can be told so.
#pragma once

#include <cstdint>
#include <span>

#include "core/text.hpp"
#include "series/label_matcher.hpp"
#include "series/selector.hpp"

namespace seriesgate {

// Prices; as measured, they come to 0.5 to 0.9 ns a unit.
inline constexpr std::uint64_t label_work = 8;  // of a series, to find those that are asked for
inline constexpr std::uint64_t literal_work = 15;
inline constexpr std::uint64_t regex_work = 80;
inline constexpr std::uint64_t regex_byte_work = 2;
inline constexpr std::uint64_t repaired_byte_work = 30;  // of a value that is no UTF-8

/// Of a regular expression on a value.
inline std::uint64_t regex_work_on(bytes_view value) noexcept {
    return regex_work + (is_utf8(value) ? regex_byte_work : repaired_byte_work) * value.size();
}

/// What a question about series may cost: some 200 ms.
inline constexpr std::uint64_t question_work_max = 240'000'000;

/// Of matching a series with a selector that a stranger has written. An automaton that gets no memory does a step for
/// each instruction and byte: so it is priced.
inline std::uint64_t question_work(const selector& asked, std::span<const label_view> labels) noexcept {
    std::uint64_t work = label_work * labels.size() * asked.matchers().size();
    for (const label_matcher& each : asked.matchers()) {
        const bytes_view value = label_value(labels, each.name);
        work += literal_work + each.value.size() / 64;
        if (each.pattern.uses_regex()) work += regex_work_on(value) + each.pattern.instructions() * value.size();
    }
    return work;
}

}  // namespace seriesgate
