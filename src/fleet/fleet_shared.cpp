#include "fleet/fleet_shared.hpp"

#include "base/clock.hpp"
#include "base/random.hpp"
#include "fleet/claim_script.hpp"
#include "fleet/feed_script.hpp"
#include "fleet/shares_script.hpp"
#include "fleet/telling_script.hpp"

namespace seriesgate {
namespace {

/// Of all workers together; what it takes to tell of them is bounded by teller.cpp.
constexpr std::size_t untold_series_max = 2 * 1024 * 1024;
/// The same of those that were let pass out of a share.
constexpr std::size_t owed_series_max = 1024 * 1024;

}  // namespace

fleet_shared::fleet_shared(const shared_config& shared, fleet_metrics& counted)
    : settings(shared),
      metrics(counted),
      store(shared.store),
      claims(std::string{claim_script}),
      tellings(std::string{telling_script}),
      feeds(std::string{feed_script}),
      share_askings(std::string{shares_script}),
      keys(shared.name_space),
      gate(random_number()),
      untold(untold_series_max),
      own_shares(shared.left_to_shares(), owed_series_max) {}

known_counts fleet_shared::counted() const {
    if (state() != fleet_state::joined) return {};
    const auto fresh = feed.fresh_hour(monotonic_clock::now());
    if (!fresh) return {};
    return {.of = [this, open = *fresh](
                      std::int64_t hour,
                      std::uint64_t budget) { return hour == open ? heard.fed(hour, budget) : known_count{}; },
            .reserve = settings.left_to_shares()};
}

}  // namespace seriesgate
