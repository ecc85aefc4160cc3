#pragma once

#include <cstdint>
#include <string>

#include "config/redis_config.hpp"
#include "limit/rules.hpp"

/// That several gates have one limit, and where they count together.
namespace seriesgate {

/// What series get that the gate does not know while the store of counts cannot be asked.
enum class unavailable_answer : std::uint8_t {
    local,   ///< a share that the store has held back beforehand: see claim/reserve.hpp
    refuse,  ///< only what is known passes
    admit,   ///< they pass, and no shared budget counts them
};

struct shared_config {
    std::string url;     ///< as written; it holds no credentials. Empty: none, or sentinels know where the store is
    redis_config store;  ///< what is read from the URL, and all else that is said of the store
    std::string name_space = "default";  ///< of keys in the store: gates with one of them share
    unavailable_answer on_unavailable = unavailable_answer::local;
    percentage reserve{500};  ///< of each limit, held back for shares

    /// Whether there is a fleet at all. If not, this gate counts alone, and nothing else here is used.
    [[nodiscard]] bool has_store() const noexcept { return !url.empty() || !store.sentinel_master.empty(); }

    /// What claims leave of each maximum, in ten-thousandths. Who takes no share holds none back.
    [[nodiscard]] std::uint32_t left_to_shares() const noexcept {
        return on_unavailable == unavailable_answer::local ? reserve.hundredths : 0;
    }

    bool operator==(const shared_config&) const = default;
};

}  // namespace seriesgate
