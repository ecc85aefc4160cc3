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

bool is_logged_by_ingestion(reject_reason reason) noexcept {
    return reason == reject_reason::refused || reason == reject_reason::untranslated ||
           reason == reject_reason::left_out;
}

void tell_rest(rejection_logs& of) {
    of.rest([](reject_reason reason, std::uint64_t requests) {
        log::warn("more requests rejected", {{"requests", requests}, {"reason", name_of(reason)}});
    });
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
