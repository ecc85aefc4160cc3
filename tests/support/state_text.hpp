/// The limiter's state in memory, where the product has a file.
#pragma once

#include <optional>
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

/// What something saves.
template <class State>
std::string saved_text(State&& of) {
    std::string text;
    text_sink sink{text};
    state_encoder out{sink};
    of.save(out);
    return text;
}

/// Whether it takes a text. @param more what its load() wants besides
template <class State, class... More>
bool loads_text(State& into, std::string_view text, More... more) {
    text_source source{text};
    state_decoder in{source};
    return into.load(in, more...);
}

/// What a load() that says nothing makes of a text: nothing of damage, else whether it has read all.
template <class State>
std::optional<bool> reads_text(State& into, std::string_view text) {
    text_source source{text};
    state_decoder in{source};
    into.load(in);
    return in.good() ? std::optional{in.is_at_end()} : std::nullopt;
}

}  // namespace seriesgate::testing
