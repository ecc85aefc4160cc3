/// What /metrics says of a gate in a fleet.
#pragma once

namespace seriesgate {

class exposition;
class fleet_shared;

/// The families of fleet_metrics, and what else there is to say.
void write(exposition& out, fleet_shared& of);

}  // namespace seriesgate
