#include "fleet/fleet_shared.hpp"

#include "fleet/claim_script.hpp"

namespace seriesgate {

fleet_shared::fleet_shared(const shared_config& shared, fleet_metrics& counted)
    : settings(shared),
      metrics(counted),
      store(shared.store),
      claims(std::string{claim_script}),
      keys(shared.name_space) {}

}  // namespace seriesgate
