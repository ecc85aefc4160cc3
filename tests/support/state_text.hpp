/// The limiter's state in memory, where the product has a file.
#pragma once

#include <cstring>
#include <string>
#include <string_view>

#include "core/state_stream.hpp"

namespace seriesgate::testing {

struct state_text : state_sink {
    std::string text;

    bool write(std::string_view bytes) override {
        text.append(bytes);
        return true;
    }
};

class state_text_source : public state_source {
    std::string_view text_;

  public:
    explicit state_text_source(std::string_view text) : text_(text) {}

    bool read(char* into, std::size_t size) override {
        if (size > text_.size()) return false;
        if (size != 0) std::memcpy(into, text_.data(), size);
        text_.remove_prefix(size);
        return true;
    }
    [[nodiscard]] std::uint64_t left() const override { return text_.size(); }
    bool intact() override { return text_.empty(); }
};

}  // namespace seriesgate::testing
