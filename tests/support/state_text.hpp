/// The limiter's state in memory, where the product has a file.
#pragma once

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

using state_text_source = text_source;

}  // namespace seriesgate::testing
