#include "fleet/fleet_shared.hpp"

#include <utility>

#include "base/random.hpp"
#include "fleet/gate_script.hpp"
#include "fleet/store_script.hpp"

namespace seriesgate {

fleet_shared::fleet_shared(const shared_config& shared, gate_identity self, fleet_metrics& counted)
    : settings(shared),
      who(std::move(self)),
      metrics(counted),
      store(shared.store),
      calls(std::string{store_script}),
      gates(std::string{gate_script}),
      keys(shared.name_space),
      run(random_number()) {}

const char* name_of(store_reach state) noexcept {
    switch (state) {
        case store_reach::joined:
            return "joined";
        case store_reach::refilling:
            return "refilling";
        case store_reach::away:
            return "away";
        case store_reach::wrong_clock:
            return "away: clock";
        case store_reach::unheard:
            break;
    }
    return "joining";
}

}  // namespace seriesgate
