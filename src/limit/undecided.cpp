#include "limit/undecided.hpp"

#include "core/kept_memory.hpp"

namespace seriesgate {

void undecided::shrink() {
    give_back(pending);
    give_back(followers);
    give_back(refused_by);
    selections.shrink();
    give_back(families);
    give_back(budgets);
    give_back(observing);
}

}  // namespace seriesgate
