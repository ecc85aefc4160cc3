#include "http/rejection_log.hpp"

#include <cassert>
#include <cstddef>

namespace seriesgate {
namespace {

constexpr std::size_t tenant_bytes_max = 100;

}  // namespace

std::optional<std::uint64_t> rejection_log::count(reject_reason reason,
                                                  std::chrono::steady_clock::time_point now) noexcept {
    assert(reason < reject_reason::count_);
    if (reason == reject_reason::refused || reason == reject_reason::untranslated) return std::nullopt;
    return logs_[static_cast<std::size_t>(reason)].count(1, now);
}

std::string_view shown_tenant(std::string_view tenant) noexcept {
    return tenant.substr(0, tenant_bytes_max);
}

std::array<log::field, 6> describe_rejection(const reply& answer, std::uint64_t requests, std::string_view peer,
                                             std::string_view tenant) {
    assert(answer.rejected && requests != 0);
    return {{{"requests", requests},
             {"reason", name_of(*answer.rejected)},
             {"sender", peer},
             {"tenant", shown_tenant(tenant)},
             {"status", answer.status},
             {"err", std::string_view{answer.body}.substr(0, answer.body.find('\n'))}}};
}

}  // namespace seriesgate
