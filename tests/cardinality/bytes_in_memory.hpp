/// Saved bytes, to be loaded.
#pragma once

#include <cstring>
#include <string_view>

#include "core/state_stream.hpp"

namespace seriesgate::testing {

class bytes_in_memory final : public state_source {
    std::string_view rest_;

  public:
    explicit bytes_in_memory(std::string_view bytes) : rest_(bytes) {}
    bool read(char* into, std::size_t size) override {
        if (size > rest_.size()) return false;
        if (size != 0) std::memcpy(into, rest_.data(), size);
        rest_.remove_prefix(size);
        return true;
    }
    [[nodiscard]] std::uint64_t left() const override { return rest_.size(); }
    bool intact() override { return rest_.empty(); }
};

}  // namespace seriesgate::testing
