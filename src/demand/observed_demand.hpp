/// What limits are asked for, as all threads share it.
#pragma once

#include "core/state_stream.hpp"
#include "core/synchronization.hpp"
#include "demand/demand_history.hpp"
#include "demand/demand_rates.hpp"
#include "demand/suggestions.hpp"
#include "limit/window.hpp"

namespace seriesgate {

class series_limiter;

/// The demand of ended windows, and how fast those fill that are running. Threads: any.
class observed_demand {
    struct noted {
        demand_history history;
        demand_rates rates;
    };
    guarded<noted> noted_{noted{}};

  public:
    /// Fetches what has ended, and looks at the figures when it is time to. To be called every second or so, and before
    /// save().
    void look(series_limiter& limiter, time_point now);

    /// See suggest() in suggestions.hpp.
    [[nodiscard]] suggestion_list suggest(const series_limiter& limiter, time_point now,
                                          const suggestion_choice& choice);

    /// The history: what a restart must not forget. At most 2.5 MB, mostly far less.
    void save(state_encoder& out);
    /// Takes it over. @return false, and nothing has changed, if it makes no sense.
    bool load(state_decoder& in);
};

}  // namespace seriesgate
