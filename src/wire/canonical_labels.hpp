/// The canonical label set on the wire: what series_view::label_run is made of, and fingerprints.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "wire/varint.hpp"
#include "wire/write_request.hpp"

namespace seriesgate {

/// A label record with a name and a value of one byte each.
inline constexpr std::size_t label_record_bytes_min = 8;

/// The bytes of the first eight that are of a name, by its size.
inline constexpr std::array<std::uint64_t, 128> prefix_masks = [] {
    std::array<std::uint64_t, 128> masks{};
    for (unsigned size = 0; size < masks.size(); ++size)
        masks[size] = size >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * size) - 1;
    return masks;
}();

/// The first eight bytes of a name as a number that orders like the bytes; shorter names are padded with zeros.
/// @param name eight bytes must be readable.
/// @param size below 128.
inline std::uint64_t prefix_of(const char* name, std::size_t size) noexcept {
    static_assert(std::endian::native == std::endian::little, "written for little-endian machines");
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, name, sizeof bytes);
    return __builtin_bswap64(bytes & prefix_masks[size]);
}

/// The same where there may be fewer bytes.
inline std::uint64_t prefix_of(bytes_view name) noexcept {
    char bytes[8]{};
    std::memcpy(bytes, name.data(), std::min(name.size(), sizeof bytes));
    return prefix_of(bytes, sizeof bytes);
}

/// As `<`. A call, for where that is rare and its registers are wanted.
bool is_before(bytes_view a, bytes_view b) noexcept;

/// How far label records of a canonical set go from `at` on.
/// @param end of the series.
/// @param body_end behind `end`: how far bytes may be looked at.
/// @return where the first other record starts, or one that is too near the end of the body; `at` if none is canonical.
const char* canonical_labels_end(const char* at, const char* end, const char* body_end) noexcept;

/// Appends the labels of a canonical run.
void append_labels(bytes_view run, std::vector<label_view>& labels);

/// A label record is longer than its name and value by at most three tags and three lengths of five bytes.
inline constexpr std::size_t label_overhead_max = 3 * (1 + 5);

inline char* write_length(char* out, std::size_t length) noexcept {
    for (; length >= 0x80; length >>= 7) *out++ = static_cast<char>(length | 0x80);
    *out++ = static_cast<char>(length);
    return out;
}

/// Copies `size` bytes that are at least one Word and at most two.
template <std::size_t Word>
inline void copy_words(char* out, const char* text, std::size_t size) noexcept {
    std::memcpy(out, text, Word);
    std::memcpy(out + size - Word, text + size - Word, Word);
}

/// Tag, length and text. Most texts are short: copying them here saves the call of memcpy.
inline char* write_text(char* out, char tag, bytes_view text) noexcept {
    *out++ = tag;
    out = write_length(out, text.size());
    const std::size_t size = text.size();
    if (size >= 8 && size <= 16) {
        copy_words<8>(out, text.data(), size);
    } else if (size > 16 && size <= 32) {
        copy_words<16>(out, text.data(), size);
    } else if (size >= 4 && size < 8) {
        copy_words<4>(out, text.data(), size);
    } else {
        std::memcpy(out, text.data(), size);
    }
    return out + size;
}

inline char* write_label(char* out, const label_view& label) noexcept {
    const auto size = [](bytes_view text) {
        return 1u + static_cast<unsigned>(varint_size(text.size())) + text.size();
    };
    *out++ = '\x0a';
    out = write_length(out, size(label.name) + size(label.value));
    out = write_text(out, '\x0a', label.name);
    return write_text(out, '\x12', label.value);
}

/// A run of label records that is being written. Keeps its memory.
class label_run_buffer {
    std::unique_ptr<char[]> bytes_;
    std::size_t capacity_ = 0;
    std::size_t size_ = 0;

  public:
    void clear() noexcept { size_ = 0; }
    void append(const label_view& label) {
        const std::size_t size_max = size_ + label.name.size() + label.value.size() + label_overhead_max;
        if (size_max > capacity_) [[unlikely]]
            grow(size_max);
        char* const out = bytes_.get() + size_;
        size_ += static_cast<std::size_t>(write_label(out, label) - out);
    }
    [[nodiscard]] bytes_view view() const noexcept { return {bytes_.get(), size_}; }

    /// Room to write records behind what is there; take() says how many bytes they have come to.
    char* reserve(std::size_t size) {
        if (size_ + size > capacity_) [[unlikely]]
            grow(size_ + size);
        return bytes_.get() + size_;
    }
    void take(std::size_t size) noexcept { size_ += size; }

  private:
    void grow(std::size_t size);
};

}  // namespace seriesgate
