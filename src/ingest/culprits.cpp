#include "ingest/culprits.hpp"

#include <string_view>

#include "fleet/fleet_shared.hpp"
#include "ingest/noted_series.hpp"
#include "system/clock.hpp"

namespace seriesgate {
namespace {

/// What one takes more of is of no use to anybody.
constexpr std::size_t agent_bytes_max = 128;

request_sender sender_of(const decided_request& request) {
    const auto agent = request.from.headers.find(http::field::user_agent);
    std::string_view named;
    if (agent != request.from.headers.end()) named = agent->value();
    return {.tenant = request.tenant, .address = request.from.sender, .agent = named.substr(0, agent_bytes_max)};
}

}  // namespace

void note_culprits(const decided_request& request, planner& planning, ingest_shared& shared) {
    const plan& decided = request.decided;
    if (decided.arrived.empty() && decided.returned.empty() && decided.turned_away.empty()) return;
    const time_point now = shared.fleet != nullptr ? shared.fleet->now() : time_point{wall_clock::now()};
    shared.noted.take(decided, planning, request.decoded, request.kind.version, sender_of(request), now);
}

}  // namespace seriesgate
