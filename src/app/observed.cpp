#include "app/observed.hpp"

#include <exception>
#include <string>
#include <utility>

#include "log/log.hpp"
#include "system/clock.hpp"

namespace seriesgate {
namespace {

/// Nothing is decided by it: a crash may cost the last minute.
constexpr auto observed_interval = std::chrono::minutes{1};

}  // namespace

observed_keeper::observed_keeper(const state_directory& directory, const hash_key& key, culprits& noted, time_point now,
                                 std::function<void()> catch_up)
    : directory_(directory), file_(directory, key.identity()), noted_(noted), catch_up_(std::move(catch_up)) {
    const std::string wrong =
        file_.load([&](state_decoder& in) { return noted.demand.load(in) && noted.who.load(in, now); });
    if (!wrong.empty()) log::warn("what was seen before is not loaded", {{"err", wrong}});
}

void observed_keeper::save() noexcept {
    saved_ = monotonic_clock::now();
    try {
        catch_up_();
        file_.save([this](state_encoder& out) {
            noted_.demand.save(out);
            noted_.who.save(out);
        });
    } catch (const std::exception& error) {
        log::error("what was seen is not saved", {{"err", error.what()}});
    }
}

void observed_keeper::save_now_and_then() noexcept {
    if (monotonic_clock::now() - saved_ < observed_interval || !directory_.is_held()) return;
    save();
}

}  // namespace seriesgate
