/// What a parser makes of a request, in a form in which parsers can be compared.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace seriesgate::testing {

struct seen_series {
    std::vector<std::pair<std::string, std::string>> labels;  ///< in the order of the wire, empty values too
    std::uint32_t samples = 0;
    std::uint32_t histograms = 0;
    std::uint32_t exemplars = 0;
    bool admits = false;  ///< holds a sample or histogram other than a stale marker

    friend bool operator==(const seen_series&, const seen_series&) = default;
};

struct seen_request {
    std::vector<seen_series> series;
    std::uint32_t metadata = 0;

    friend bool operator==(const seen_request&, const seen_request&) = default;
};

}  // namespace seriesgate::testing
