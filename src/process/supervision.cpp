#include "process/supervision.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/log.hpp"
#include "config/environment.hpp"
#include "core/text.hpp"
#include "fleet/fleet_shared.hpp"
#include "limit/limiter.hpp"

namespace seriesgate {

notify_socket::notify_socket(std::string_view address) {
    if (address.empty()) return;
    const bool is_abstract = address.front() == '@';
    if ((!is_abstract && address.front() != '/') || address.size() >= sizeof to_.sun_path) {
        failed("NOTIFY_SOCKET is no path of a unix socket");
        return;
    }
    to_.sun_family = AF_UNIX;
    std::memcpy(to_.sun_path, address.data(), address.size());
    if (is_abstract) to_.sun_path[0] = '\0';
    socket_ = descriptor{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (!socket_.open()) {
        failed(std::strerror(errno));
        return;
    }
    to_size_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address.size() + (is_abstract ? 0 : 1));
}

void notify_socket::send(const std::string& lines) noexcept {
    if (to_size_ == 0) return;
    const auto* const to = reinterpret_cast<const sockaddr*>(&to_);
    if (::sendto(socket_.get(), lines.data(), lines.size(), MSG_NOSIGNAL | MSG_DONTWAIT, to, to_size_) < 0)
        failed(std::strerror(errno));
}

void notify_socket::failed(const char* why) noexcept {
    if (!has_failed_.exchange(true)) log::warn("the service manager cannot be told", {{"err", why}});
}

std::optional<std::chrono::microseconds> watchdog_limit(std::string_view usec, std::string_view pid,
                                                        std::string_view self) noexcept {
    if (!pid.empty() && pid != self) return std::nullopt;
    const auto count = whole_number<std::int64_t>(usec);
    return count && *count > 0 ? std::optional{std::chrono::microseconds{*count}} : std::nullopt;
}

namespace {

using namespace std::chrono_literals;

constexpr std::chrono::microseconds status_interval = 5s;

std::string upstream_in_words(std::size_t backends_up, std::size_t backends) {
    if (backends == 0) return "nothing is forwarded";
    if (backends == 1) return backends_up == 1 ? "upstream up" : "upstream out";
    return fmt::format("{} of {} upstreams up", backends_up, backends);
}

}  // namespace

std::string status_in_words(const limiter_figures& figures, std::size_t backends_up, std::size_t backends,
                            std::string_view shared) {
    const window_figures& hour = figures.hourly;
    const window_figures& day = figures.daily;
    const bool observes = figures.mode == limit_mode::observe;
    std::uint64_t refused = hour.series_refused;
    bool is_exact = hour.refused_is_exact;
    if (figures.active && !observes) {  // each series is refused by limits of one kind
        refused += figures.active->series_refused;
        is_exact = is_exact && figures.active->refused_is_exact;
    }
    const std::string max = hour.series_max == 0 ? "" : " of " + grouped(hour.series_max);
    const std::string of_day =
        day.series_refused == 0
            ? ""
            : fmt::format(" ({} by today's limits)", count_text(day.series_refused, day.refused_is_exact));
    return fmt::format("hour: {}{} series, {} {}{}; {}{}{}", grouped(hour.series_current), max,
                       count_text(refused, is_exact), observes ? "would be refused" : "refused", of_day,
                       upstream_in_words(backends_up, backends), shared.empty() ? "" : "; shared store ", shared);
}

supervision::supervision(const sources& from)
    : of_(from),
      manager_(variable_of_process("NOTIFY_SOCKET").value_or("")),
      watchdog_(watchdog_limit(variable_of_process("WATCHDOG_USEC").value_or(""),
                               variable_of_process("WATCHDOG_PID").value_or(""), std::to_string(::getpid()))) {}

void supervision::started() {
    if (has_started_.exchange(true)) return;
    manager_.send("READY=1");
    if (manager_) send_status();
}

void supervision::stopping() {
    manager_.send("STOPPING=1\nSTATUS=draining");
}

/// Not before the start is said: the manager would take the end of a reload for it.
bool supervision::says_reloads() const {
    const lifecycle_state stage = of_.life.stage();
    return has_started_ && (stage == lifecycle_state::starting || stage == lifecycle_state::ready);
}

/// Type=notify-reload (systemd 253) compares MONOTONIC_USEC with the time of its request.
void supervision::reload_begins() {
    if (!says_reloads()) return;
    const auto now = monotonic_clock::now().time_since_epoch();  // CLOCK_MONOTONIC
    manager_.send(fmt::format("RELOADING=1\nMONOTONIC_USEC={}",
                              std::chrono::duration_cast<std::chrono::microseconds>(now).count()));
}

void supervision::reload_ends() {
    if (says_reloads()) manager_.send("READY=1");
}

net::awaitable<void> supervision::run() {
    if (!manager_) co_return;
    // Twice as often as sd_watchdog_enabled(3) advises, so one may be lost.
    const auto interval = watchdog_ ? std::min(*watchdog_ / 4, status_interval) : status_interval;
    auto status_due = monotonic_clock::now();
    for (;;) {
        const auto now = monotonic_clock::now();
        if (watchdog_ && is_alive(*watchdog_, oldest_turn(of_.workers), now)) manager_.send("WATCHDOG=1");
        if (now >= status_due) {
            send_status();
            status_due = now + status_interval;
        }
        co_await sleep_for(interval);
    }
}

void supervision::send_status() {
    const lifecycle_state stage = of_.life.stage();
    if (stage != lifecycle_state::starting && stage != lifecycle_state::ready) return;
    const auto& backends = of_.stores.first.backends;
    const auto up = std::ranges::count_if(backends, [](const shared_backend& each) { return each.health.is_up(); });
    const std::string why = stage == lifecycle_state::starting ? of_.waits_for() : std::string{};
    if (stage == lifecycle_state::starting && why.empty()) return;
    const store_reach reach = of_.fleet == nullptr ? store_reach::joined : of_.fleet->view.state();
    std::string status = why.empty()
                             ? status_in_words(figures_of_windows(of_.limiter), static_cast<std::size_t>(up),
                                               backends.size(), reach == store_reach::joined ? "" : name_of(reach))
                             : "starting: " + one_line(why);
    if (status == sent_status_) return;
    sent_status_ = std::move(status);
    manager_.send("STATUS=" + sent_status_);
}

}  // namespace seriesgate
