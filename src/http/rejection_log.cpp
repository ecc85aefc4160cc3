#include "http/rejection_log.hpp"

#include <fmt/format.h>

#include <cassert>
#include <cstddef>

#include "series/text.hpp"

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

std::string describe_rejection(const reply& answer, std::uint64_t requests, std::string_view peer,
                               std::string_view tenant) {
    assert(answer.rejected && requests != 0);
    const std::string_view why = std::string_view{answer.body}.substr(0, answer.body.find('\n'));
    return fmt::format(
        "rejected {} request{} since the last such line ({}), for example from {}{}: {} {}", requests,
        requests == 1 ? "" : "s", name_of(*answer.rejected), peer.empty() ? "a sender that has gone" : peer,
        tenant.empty() ? "" : ", tenant " + seriesgate::quoted(tenant.substr(0, tenant_bytes_max)), answer.status, why);
}

}  // namespace seriesgate
