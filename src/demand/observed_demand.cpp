#include "demand/observed_demand.hpp"

#include <optional>
#include <utility>

#include "limit/figures.hpp"
#include "limit/limiter.hpp"
#include "limit/limiter_state.hpp"

namespace seriesgate {

void observed_demand::look(series_limiter& limiter, time_point now) {
    const auto ended = take_ended(limiter);
    const auto [hour, day] = [&] {
        const auto current = limiter.state().sets.read();
        return std::pair{current->hour_span.start, current->day_span.start};
    }();
    std::optional<limiter_figures> figures;
    if (noted_.lock()->rates.is_due(now, hour, day)) figures = figures_of(limiter);
    const auto held = noted_.lock();
    if (!ended.empty()) held->history.add(ended);
    held->history.advance(hour, day);
    if (figures) held->rates.note(now, *figures);
}

suggestion_list observed_demand::suggest(const series_limiter& limiter, time_point now,
                                         const suggestion_choice& choice) {
    const limiter_figures figures = figures_of(limiter);
    const auto rules = limiter.rules();
    const noted copy = *noted_.lock();
    return seriesgate::suggest(figures, *rules, copy.history, copy.rates, now, choice);
}

void observed_demand::save(state_encoder& out) {
    const demand_history copy = noted_.lock()->history;
    copy.save(out);
}

bool observed_demand::load(state_decoder& in) {
    demand_history loaded;
    if (!loaded.load(in)) return false;
    noted_.lock()->history = std::move(loaded);
    return true;
}

}  // namespace seriesgate
