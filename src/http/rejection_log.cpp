#include "http/rejection_log.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <string>

#include "series/text.hpp"

namespace seriesgate {
namespace {

constexpr std::size_t tenant_bytes_max = 100;

std::string address_of(const timed_stream& peer) {
    const auto where = ip_address_of(peer.peer());
    return where ? where->to_string() : "a sender that has gone";
}

}  // namespace

void rejection_log::tell(const reply& answer, const timed_stream& peer, std::string_view tenant) {
    if (!answer.rejected) return;
    const auto requests = logs_[static_cast<std::size_t>(*answer.rejected)].count(1);
    if (!requests) return;
    const std::string_view why = std::string_view{answer.body}.substr(0, answer.body.find('\n'));
    spdlog::warn("turned away {} request{} since the last such line ({}), for example from {}{}: {} {}", *requests,
                 *requests == 1 ? "" : "s", name_of(*answer.rejected), address_of(peer),
                 tenant.empty() ? "" : ", tenant " + seriesgate::quoted(tenant.substr(0, tenant_bytes_max)),
                 answer.status, why);
}

}  // namespace seriesgate
