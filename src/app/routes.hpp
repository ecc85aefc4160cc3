/// Every path of the gate, and who answers it.
#pragma once

#include <string_view>

#include "admin/admin_service.hpp"
#include "http/route_table.hpp"

namespace seriesgate {

/// The routes of one thread: what admin answers, and ingestion.
/// @param admin, ingest of the same thread.
/// @param tenant_path a further path of ingestion (tenants.path), which outlives the routes; empty: none.
route_table make_routes(admin_answers& admin, const request_handler& ingest, std::string_view tenant_path = {});

/// In place of ingestion at the front desk: a request of this kind goes to a worker with its first byte.
request_handler never_at_the_front_desk();

}  // namespace seriesgate
