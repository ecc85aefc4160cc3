#include "http/rejection_log.hpp"

#include <cassert>
#include <cstddef>
#include <utility>

#include "base/log.hpp"

namespace seriesgate {
namespace {

constexpr std::size_t tenant_bytes_max = 100;
constexpr std::size_t logged_user_bytes_max = 100;

}  // namespace

std::optional<std::uint64_t> rejection_log::count(reject_reason reason,
                                                  std::chrono::steady_clock::time_point now) noexcept {
    assert(reason < reject_reason::count_);
    if (reason == reject_reason::refused || reason == reject_reason::untranslated || reason == reject_reason::left_out)
        return std::nullopt;
    return logs_[static_cast<std::size_t>(reason)].count(1, now);
}

std::optional<std::uint64_t> rejection_log::rest(reject_reason reason,
                                                 std::chrono::steady_clock::time_point now) noexcept {
    assert(reason < reject_reason::count_);
    return logs_[static_cast<std::size_t>(reason)].rest(now);
}

void tell_rest(rejection_log& of) {
    for (std::size_t i = 0; i < counter_by<reject_reason>::size; ++i) {
        const auto reason = static_cast<reject_reason>(i);
        if (const auto requests = of.rest(reason))
            log::warn("more requests rejected", {{"requests", *requests}, {"reason", name_of(reason)}});
    }
}

std::string_view shown_tenant(std::string_view tenant) noexcept {
    return tenant.substr(0, tenant_bytes_max);
}

std::array<log::field, 7> describe_rejection(const reply& answer, std::uint64_t requests, std::string_view peer,
                                             std::string_view user, std::string_view tenant) {
    assert(answer.rejected && requests != 0);
    return {{{"requests", requests},
             {"reason", name_of(*answer.rejected)},
             {"sender", peer},
             {"user", user.substr(0, logged_user_bytes_max)},
             {"tenant", shown_tenant(tenant)},
             {"status", answer.status},
             {"err", std::string_view{answer.body}.substr(0, answer.body.find('\n'))}}};
}

void closings_log::tell(const http_metrics& metrics) {
    const auto closings = metrics.connections_given_up.total() + metrics.connections_turned_away.total();
    const auto more = closings - std::exchange(told_, closings);
    const auto times = more == 0 ? lines_.rest() : lines_.count(more);
    if (times) log::warn("too many connections: some are closed or turned away", {{"connections", *times}});
}

}  // namespace seriesgate
