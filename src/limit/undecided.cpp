#include "limit/undecided.hpp"

#include "core/kept_memory.hpp"

namespace seriesgate {

void undecided::shrink() {
    give_back(pending);
    give_back(followers);
    selections.shrink();
    give_back(families);
    give_back(budgets);
}

}  // namespace seriesgate
