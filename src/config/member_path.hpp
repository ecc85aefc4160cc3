/// Values by the members that lead to them.
#pragma once

namespace seriesgate {

/// What stands at the end of a path of members: `member<&config::server, &server_config::threads>(settings)`.
template <auto... path, class Root>
constexpr auto& member(Root& root) noexcept {
    return (root.*....*path);
}

}  // namespace seriesgate
