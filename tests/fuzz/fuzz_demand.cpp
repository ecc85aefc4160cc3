// The history of demand: bytes are refused, and then change nothing, or are what the history writes again.
#include <cstdint>
#include <string>

#include "cardinality/bytes_in_memory.hpp"
#include "cardinality/demand_history.hpp"
#include "fuzz/fuzz_target.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

std::string saved(const demand_history& history) {
    std::string bytes;
    text_sink sink{bytes};
    state_encoder out{sink};
    history.save(out);
    return bytes;
}

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
    const std::string before = saved(history);
    bytes_in_memory source{bytes};
    state_decoder in{source};
    if (!history.load(in)) {
        require(saved(history) == before, "bytes that were refused have changed something");
        return 0;
    }
    demand_history again;
    const std::string written = saved(history);
    require(written.size() == size - source.left(), "more or less is written than was read");
    bytes_in_memory second{written};
    state_decoder in_again{second};
    require(again.load(in_again) && saved(again) == written, "what is written is not read again");
    require(history.size() <= demand_history::parts_max + demand_history::wholes_max, "too many budgets");
    history.advance(std::chrono::sys_days{std::chrono::year{2030} / 1 / 1},
                    std::chrono::sys_days{std::chrono::year{2030} / 1 / 1});
    history.add({});
    require(history.size() == 0 || saved(history).size() <= written.size(), "what is past has grown");
    return 0;
}
