#include "limit/lookup_result.hpp"

#include <cassert>
#include <span>

#include "core/bytes.hpp"
#include "limit/limiter_state.hpp"
#include "limit/verdict.hpp"

namespace seriesgate {

void lookup_result::shrink() {
    rules = nullptr;
    selections.shrink();
    give_back_all(pending, non_admitting, ended, refused_by, newly_admitted, newly_refused, returned, families, budgets,
                  counted_in, observing);
}

bool select_rules(const limiter_state& state, lookup_result& open, const request_origin& origin) {
    open.rules = state.sets.read()->rules;
    open.selections.clear();
    open.families.clear();
    if (origin.are_ignored_values) {
        assert(open.rules->ignores_labels);
        for (std::size_t i = 0; i < open.pending.size(); ++i)
            if (!open.selections.append_ignored_value(*open.rules, origin.tenant)) return false;
        return true;
    }
    const bool look = open.rules->look_at_labels() && origin.labels != nullptr;
    const bool look_for_families = look && open.rules->whole_histograms;
    for (const std::uint32_t entry : open.pending) {
        const auto labels = look ? origin.labels->labels(entry) : std::span<const label_view>{};
        if (!open.selections.append(*open.rules, origin.tenant, labels)) return false;
        if (look_for_families) open.families.push_back(origin.labels->family(labels));
    }
    assert(open.selections.size() == open.pending.size());
    return true;
}

}  // namespace seriesgate
