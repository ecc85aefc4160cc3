/// How gogo's generated code reads a request of remote write 2, with the look-up of the symbols as in Prometheus.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/go_walk.hpp"
#include "fuzz/seen_request.hpp"

namespace seriesgate::testing {

/// The references of one field 1, cut to 32 bits as gogo does.
inline bool go_refs(const go_field& field, std::vector<std::uint32_t>& refs) {
    if (field.type == 0) {
        refs.push_back(static_cast<std::uint32_t>(field.value));
        return true;
    }
    if (field.type != 2) return false;
    for (std::size_t at = 0; at < field.payload.size();) {
        std::uint32_t ref = 0;
        for (unsigned shift = 0;; shift += 7) {
            if (shift >= 64 || at == field.payload.size()) return false;  // gogo would read on behind the run
            const auto byte = static_cast<unsigned char>(field.payload[at++]);
            if (shift < 32) ref |= static_cast<std::uint32_t>(byte & 0x7fu) << shift;
            if (byte < 0x80) break;
        }
        refs.push_back(ref);
    }
    return true;
}

inline bool go_series_v2(std::string_view message, const std::vector<std::string>& symbols, seen_series& series) {
    constexpr auto gogo = go_parser::gogo;
    std::vector<std::uint32_t> refs;
    const bool right = for_each_go_field(message, gogo, [&](const go_field& field) {
        if (field.number == 1) return go_refs(field, refs);
        if (field.number > 5) return true;
        if (field.type != 2) return false;
        return field.number == 5 || go_data(field, gogo, 3, series);  // 5: metadata
    });
    if (!right || refs.size() % 2 != 0) return false;
    for (std::size_t i = 0; i < refs.size(); i += 2) {
        if (refs[i] >= symbols.size() || refs[i + 1] >= symbols.size()) return false;
        series.labels.emplace_back(symbols[refs[i]], symbols[refs[i + 1]]);
    }
    return true;
}

/// @return nothing if the parser refuses the request, or Prometheus one of its series.
inline std::optional<seen_request> seen_by_gogo_v2(std::string_view body) {
    std::vector<std::string> symbols;
    std::vector<std::string_view> entries;
    const bool right = for_each_go_field(body, go_parser::gogo, [&](const go_field& field) {
        if (field.number != 4 && field.number != 5) return true;
        if (field.type != 2) return false;
        if (field.number == 4) symbols.emplace_back(field.payload);
        if (field.number == 5) entries.push_back(field.payload);
        return true;
    });
    if (!right) return std::nullopt;
    seen_request request;
    for (const auto entry : entries)
        if (!go_series_v2(entry, symbols, request.series.emplace_back())) return std::nullopt;
    return request;
}

}  // namespace seriesgate::testing
