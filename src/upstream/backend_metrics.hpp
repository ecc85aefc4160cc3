/// Families about the backends of all stores.
#pragma once

#include <vector>

namespace seriesgate {

class exposition;
struct shared_store;

void write_backends(exposition& out, const std::vector<const shared_store*>& stores);

}  // namespace seriesgate
