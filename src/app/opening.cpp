#include "app/opening.hpp"

#include <algorithm>
#include <chrono>
#include <exception>

#include "fleet/fleet_shared.hpp"
#include "net/async.hpp"
#include "system/clock.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

constexpr auto ready_poll_interval = 5ms;
/// A gate that joins a fleet lets senders wait for it so long, while it reads what the fleet has admitted.
constexpr auto catch_up_max = 3s;
/// The usual time to look up the upstream's name, for those who wait in a socket of the service manager's.
constexpr auto activated_wait_max = 1s;

/// Decides from one moment to the next whether there is something to wait for.
class readiness {
    using clock = monotonic_clock;
    const opening& of_;
    const clock::time_point began_ = clock::now();

  public:
    explicit readiness(const opening& of) : of_(of) {}

    [[nodiscard]] bool is_ready() const {
        const bool catches_up =
            of_.fleet != nullptr && of_.fleet->is_catching_up() && clock::now() < began_ + catch_up_max;
        return !catches_up && std::ranges::all_of(of_.workers, [](const auto& each) { return each->ingest->ready(); });
    }
    [[nodiscard]] bool is_late() const { return clock::now() >= began_ + activated_wait_max; }
};

/// @return why the gate of before has not left its place; empty if it has.
std::string take_place(successor& before) {
    try {
        before.serve();
        return "";
    } catch (const std::exception& error) {
        return error.what();
    }
}

/// @return why it will not; empty as long as it may, or if it has died: then there is none.
std::string look_at(successor*& before) {
    try {
        if (before->look()) before = nullptr;
        return "";
    } catch (const std::exception& error) {
        return error.what();
    }
}

}  // namespace

net::awaitable<void> open(opening steps) {
    successor* before = steps.place.before ? &*steps.place.before : nullptr;
    bool serves = before == nullptr && !steps.place.is_activated;
    if (serves) steps.serves();
    const readiness state{steps};
    async_timer timer{co_await net::this_coro::executor};
    std::string fault;
    while (fault.empty() && !state.is_ready()) {
        if (before == nullptr && !serves && (state.is_late() || steps.place.before)) {
            serves = true;
            steps.serves();
        }
        timer.expires_after(ready_poll_interval);
        co_await timer.async_wait(no_throw);
        if (before != nullptr) fault = look_at(before);
    }
    if (before != nullptr && fault.empty()) fault = take_place(*before);
    if (!fault.empty()) co_return steps.failed(std::move(fault));
    steps.life.become_ready();
    if (!serves) steps.serves();
    steps.ready();
}

}  // namespace seriesgate
