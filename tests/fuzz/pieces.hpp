/// Bytes for a connection, in the pieces that the fuzzer wants.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace seriesgate::testing {

/// An input: a byte of choices, a byte that says how many sizes follow (the lower four bits), the sizes, which are used
/// in turn (0: all that is left), and what is to be sent.
class pieces {
    std::uint8_t choices_ = 0;
    std::string_view sizes_;
    std::string_view rest_;
    std::size_t next_ = 0;

  public:
    explicit pieces(std::string_view input) : rest_(input) {
        choices_ = take_byte();
        const std::size_t count = std::min<std::size_t>(take_byte() % 16, rest_.size());
        sizes_ = rest_.substr(0, count);
        rest_.remove_prefix(count);
    }

    [[nodiscard]] bool choice(unsigned bit) const { return (choices_ >> bit & 1u) != 0; }
    [[nodiscard]] bool empty() const { return rest_.empty(); }
    [[nodiscard]] std::string_view all() const { return rest_; }

    std::string_view next() {
        std::size_t size = sizes_.empty() ? 0 : static_cast<std::uint8_t>(sizes_[next_++ % sizes_.size()]);
        if (size == 0) size = rest_.size();
        const std::string_view piece = rest_.substr(0, size);
        rest_.remove_prefix(piece.size());
        return piece;
    }

  private:
    std::uint8_t take_byte() {
        if (rest_.empty()) return 0;
        const auto byte = static_cast<std::uint8_t>(rest_.front());
        rest_.remove_prefix(1);
        return byte;
    }
};

}  // namespace seriesgate::testing
