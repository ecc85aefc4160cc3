/// Families about the doors of all stores.
#pragma once

#include <vector>

namespace seriesgate {

class exposition;
struct shared_store;

void write_doors(exposition& out, const std::vector<const shared_store*>& stores);

}  // namespace seriesgate
