// The history of demand: bytes are refused, and then change nothing, or are what the history writes again.
#include "cardinality/demand_history.hpp"
#include "fuzz/fuzz_target.hpp"
#include "support/state_text.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

/// With one budget of its own.
demand_history example() {
    const ended_budget one{.scope = demand_scope::global,
                           .name = {},
                           .hour = window_demand{std::chrono::sys_days{std::chrono::year{2026} / 3 / 10}, 5},
                           .day = {}};
    demand_history made;
    made.add({&one, 1});
    return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes{reinterpret_cast<const char*>(data), size};
    demand_history history = example();
    const std::string before = saved_text(history);
    text_source source{bytes};
    state_decoder in{source};
    if (!history.load(in)) {
        require(saved_text(history) == before, "bytes that were refused have changed something");
        return 0;
    }
    demand_history again;
    const std::string written = saved_text(history);
    require(written.size() == size - source.left(), "more or less is written than was read");
    require(loads_text(again, written) && saved_text(again) == written, "what is written is not read again");
    require(history.size() <= demand_history::parts_max + demand_history::wholes_max, "too many budgets");
    history.advance(std::chrono::sys_days{std::chrono::year{2030} / 1 / 1},
                    std::chrono::sys_days{std::chrono::year{2030} / 1 / 1});
    history.add({});
    require(history.size() == 0 || saved_text(history).size() <= written.size(), "what is past has grown");
    return 0;
}
