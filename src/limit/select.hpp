/// Which limits apply to the entries of a request.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "limit/admission.hpp"

namespace seriesgate {

/// Evaluates the selectors for these entries, in their order.
/// @param families gets the histograms that they are part of, or stays empty if that is of no interest.
inline void select(const limit_rules& rules, std::span<const std::uint32_t> entries, const request_origin& origin,
                   rule_selections& selections, std::vector<histogram_family>* families = nullptr) {
    selections.clear();
    if (families != nullptr) families->clear();
    const bool look = rules.look_at_labels() && origin.labels != nullptr;
    const bool look_for_families = look && rules.whole_histograms && families != nullptr;
    for (const std::uint32_t entry : entries) {
        const auto labels = look ? origin.labels->labels(entry) : std::span<const label_view>{};
        selections.append(rules, origin.tenant, labels);
        if (look_for_families) families->push_back(origin.labels->family(labels));
    }
}

}  // namespace seriesgate
