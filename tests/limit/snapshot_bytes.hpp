/// Snapshots in memory.
#pragma once

#include <cstring>
#include <string>
#include <string_view>

#include "limit/limiter.hpp"
#include "limit/snapshot.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing {

struct bytes_sink final : state_sink {
    std::string bytes;
    bool write(std::string_view more) override {
        bytes.append(more);
        return true;
    }
};

struct bytes_source final : state_source {
    std::string_view rest;
    explicit bytes_source(std::string_view bytes) : rest(bytes) {}
    bool read(char* into, std::size_t size) override {
        if (size > rest.size()) return false;
        if (size != 0) std::memcpy(into, rest.data(), size);
        rest.remove_prefix(size);
        return true;
    }
    [[nodiscard]] std::uint64_t left() const override { return rest.size(); }
    bool intact() override { return rest.empty(); }
};

/// @return nothing if it could not be saved.
inline std::string saved(series_limiter& limiter) {
    bytes_sink sink;
    return save_snapshot(limiter, sink) ? std::move(sink.bytes) : std::string{};
}

inline bool restored(series_limiter& limiter, std::string_view bytes, time_point now) {
    bytes_source source{bytes};
    return restore_snapshot(limiter, source, now);
}

/// A gate that has begun with what another saved.
template <class Gate>
struct restarted : Gate {
    restarted(const limit_rules& rules, std::string_view bytes, time_point now, auto... more)
        : Gate{rules, now, more...} {
        REQUIRE(restored(this->limiter, bytes, now));
    }
};

}  // namespace seriesgate::testing
