/// The fields that a Connection header declares to be of one hop.
#pragma once

#include <string_view>
#include <vector>

#include "net/http_fields.hpp"

namespace seriesgate {

/// The names in a message's Connection header, read once, since a look at every list for every line would be quadratic.
/// Views into the message. Threads: one.
/// Source: RFC 9110, section 7.6.1.
class hop_fields {
    std::vector<std::string_view> names_;  // sorted without regard to case; empty for most messages, then nothing is
                                           // allocated

  public:
    /// Real ones have one or two; further names are end-to-end like others that nobody declared.
    static constexpr std::size_t names_max = 64;

    /// @param tenant_header the name of the header that the gate takes the tenant from, or nothing.
    hop_fields(const http::fields& headers, std::string_view tenant_header);

    /// Whether the field may not go on. What decides about a request is never of one hop, whatever Connection says:
    /// the store has to see what the gate has seen. Those are the tenant header, X-Scope-OrgID, THANOS-TENANT,
    /// Content-Type, Content-Encoding, Authorization, X-Prometheus-Remote-Write-Version and Via.
    [[nodiscard]] bool contain(std::string_view name) const;
};

}  // namespace seriesgate
