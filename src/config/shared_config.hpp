#pragma once

#include <cstdint>
#include <string>

#include "config/redis_config.hpp"

/// That several gates have one limit, and where they count together.
namespace seriesgate {

/// What series get that the gate does not know while the store of counts cannot be asked.
enum class unavailable_answer : std::uint8_t {
    refuse,  ///< only what is known passes
    admit,   ///< they pass, and no shared budget counts them
};

struct shared_config {
    std::string url;     ///< as written; it holds no credentials. Empty: none, or sentinels know where the store is
    redis_config store;  ///< what is read from the URL, and all else that is said of the store
    std::string name_space = "default";  ///< of keys in the store: gates with one of them share
    unavailable_answer on_unavailable = unavailable_answer::refuse;

    /// Whether there is a fleet at all. If not, this gate counts alone, and nothing else here is used.
    [[nodiscard]] bool has_store() const noexcept { return !url.empty() || !store.sentinel_master.empty(); }

    bool operator==(const shared_config&) const = default;
};

}  // namespace seriesgate
