/// Walks the labels of series entries and sums their hashes, reading only what differs from the entry before.
///
/// Neighbours in a request share most labels, because series of one target or metric are adjacent. The walk compares
/// bytes with the previous entry, 32 at a time. The caller reads and hashes labels that differ.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/bytes.hpp"

// Comparing bytes.

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace seriesgate {

/// Bytes that common_bytes may read beyond `size`, to avoid a tail loop.
inline constexpr std::size_t common_bytes_room = 31;

/// @param size of both; common_bytes_room more bytes must be readable.
/// @return the number of equal bytes at the start of `a` and `b`, up to `size`.
inline std::size_t common_bytes(const char* a, const char* b, std::size_t size) noexcept {
#if defined(__SSE2__)
    const auto equal_at = [a, b](std::size_t offset) {
        const auto of_a = _mm_loadu_si128(reinterpret_cast<const __m128i*>(a + offset));
        const auto of_b = _mm_loadu_si128(reinterpret_cast<const __m128i*>(b + offset));
        return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(of_a, of_b)));
    };
    for (std::size_t at = 0; at < size; at += 32) {
        const std::uint32_t differ = ~(equal_at(at) | equal_at(at + 16) << 16);
        if (differ != 0) return std::min(size, at + static_cast<std::size_t>(std::countr_zero(differ)));
    }
    return size;
#else
    return static_cast<std::size_t>(std::mismatch(a, a + size, b).first - a);
#endif
}

/// A label as the caller has read it.
struct walked_label {
    const char* name = nullptr;
    std::uint64_t name_order = 0;  ///< name_order_of the name
    std::uint64_t hash = 0;        ///< label_hash
    std::uint32_t name_size : 31 = 0;
    std::uint32_t is_ignored : 1 = 0;  ///< it does not distinguish series
    std::uint32_t bytes = 0;           ///< in the caller's measure
};

/// The first eight bytes of a name as a number with the same order; shorter names are padded with zeros.
/// @param name eight bytes must be readable.
/// @param size at least 1.
inline std::uint64_t name_order_of(const char* name, std::size_t size) noexcept {
    static_assert(std::endian::native == std::endian::little, "written for little-endian machines");
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, name, sizeof bytes);
    const std::size_t padding = 8 * (8 - std::min<std::size_t>(size, 8));
    return __builtin_bswap64(bytes) >> padding << padding;
}

/// The same for names with fewer readable bytes.
inline std::uint64_t name_order_of(bytes_view name) noexcept {
    char bytes[8]{};
    std::memcpy(bytes, name.data(), std::min(name.size(), sizeof bytes));
    return name_order_of(bytes, sizeof bytes);
}

/// Threads: one at a time.
class label_walk {
  public:
    /// Labels of an entry that are walked; further ones are left to the caller.
    static constexpr unsigned remembered_max = 63;

    /// Starts a body. @param body_end end of all readable bytes.
    void start(const char* body_end) noexcept {
        begin_ = nullptr;
        body_end_ = body_end;
        size_ = 0;
        count_ = 0;
        bytes_ = 0;
        sum_ = 0;
        descents_ = 0;
    }

    /// Walks the labels from `begin` on.
    /// @param read reads a label that differs from the entry before: `const char* read(const char* at, walked_label&
    /// label)`. Returns the byte after it; nullptr if there is none (also at `end`) or it is invalid.
    /// @return the byte after the last label.
    template <class ReadLabel>
    const char* operator()(const char* begin, const char* end, const ReadLabel& read) {
        assert(begin <= end && end <= body_end_);
        const char* at = begin;
        const char* before = begin_;  // the position in the entry before
        unsigned index = 0;
        for (;;) {
            if (index < count_) skip_same(at, end, before, index);
            if (index == remembered_max) break;
            walked_label label;
            const char* const after = read(at, label);
            if (after == nullptr) break;
            assert(after > at && after <= end);
            ++index;
            if (index > count_)
                labels_[++count_] = {};
            else
                before += sizes_[index];
            put(index, label, static_cast<std::uint32_t>(after - at));
            at = after;
        }
        for (; count_ > index; --count_) remove(count_);
        begin_ = begin;
        size_ = static_cast<std::uint32_t>(at - begin);
        assert(count_ == index && adds_up());
        return at;
    }

    [[nodiscard]] unsigned count() const noexcept { return count_; }
    [[nodiscard]] std::uint64_t sum() const noexcept { return sum_; }
    /// Sum of the ignored labels' hashes; computed on request because few callers need it.
    [[nodiscard]] std::uint64_t ignored_sum() const noexcept {
        std::uint64_t sum = 0;
        for (unsigned number = 1; number <= count_; ++number)
            if (labels_[number].is_ignored) sum += labels_[number].hash;
        return sum;
    }
    [[nodiscard]] std::uint32_t bytes() const noexcept { return bytes_; }
    /// Whether the names ascend, without duplicates.
    [[nodiscard]] bool is_ascending() const noexcept { return descents_ == 0; }

  private:
    const char* begin_ = nullptr;  // of the last entry's labels
    const char* body_end_ = nullptr;
    std::uint32_t size_ = 0;  // written bytes of all its labels
    unsigned count_ = 0;
    // Labels are numbered from 1; number 0 is empty and sorts before all others.
    std::array<std::uint32_t, remembered_max + 1> sizes_{};  // written bytes by label
    std::array<walked_label, remembered_max + 1> labels_{};
    std::uint64_t descents_ = 0;  // bit n: label n does not follow label n - 1
    std::uint64_t sum_ = 0;
    std::uint32_t bytes_ = 0;

    /// Skips whole labels that equal those of the entry before.
    void skip_same(const char*& at, const char* end, const char*& before, unsigned& index) noexcept {
        const auto rest = static_cast<std::size_t>(begin_ + size_ - before);
        const std::size_t same = same_bytes(at, before, std::min(rest, static_cast<std::size_t>(end - at)));
        if (same < sizes_[index + 1]) return;
        assert(index < count_);
        check_order(index + 1);
        std::size_t whole = rest;
        if (same == rest) {
            index = count_;
        } else {
            for (whole = 0; whole + sizes_[index + 1] <= same;) whole += sizes_[++index];
        }
        assert(index <= count_ && whole <= same);
        at += whole;
        before += whole;
    }

    /// Works because `at` always lies behind `before`.
    [[nodiscard]] std::size_t same_bytes(const char* at, const char* before, std::size_t size) const noexcept {
        if (body_end_ - at >= static_cast<std::ptrdiff_t>(size + common_bytes_room)) [[likely]]
            return common_bytes(at, before, size);
        return static_cast<std::size_t>(std::mismatch(at, at + size, before).first - at);
    }

    void put(unsigned number, const walked_label& label, std::uint32_t size) noexcept {
        assert(number >= 1 && number <= remembered_max && size > 0);
        walked_label& place = labels_[number];
        sum_ += label.hash - place.hash;
        bytes_ += label.bytes - place.bytes;
        place = label;
        sizes_[number] = size;
        check_order(number);
    }

    void remove(unsigned number) noexcept {
        assert(number >= 1 && number == count_);
        sum_ -= labels_[number].hash;
        bytes_ -= labels_[number].bytes;
        descents_ &= ~(std::uint64_t{1} << number);
    }

    /// Whether the running sums equal the sums over all labels.
    [[nodiscard]] bool adds_up() const noexcept {
        std::uint64_t sum = 0;
        std::uint32_t label_bytes = 0;
        std::uint32_t written = 0;
        for (unsigned number = 1; number <= count_; ++number) {
            sum += labels_[number].hash;
            label_bytes += labels_[number].bytes;
            written += sizes_[number];
        }
        return sum == sum_ && label_bytes == bytes_ && written == size_ && descents_ >> count_ >> 1 == 0;
    }

    void check_order(unsigned number) noexcept {
        const walked_label& before = labels_[number - 1];
        const walked_label& label = labels_[number];
        const bool is_plain = (before.name_order < label.name_order) & (descents_ == 0);
        if (!is_plain) [[unlikely]]
            note_order(number, is_before(before, label));
    }

    void note_order(unsigned number, bool is_ascent) noexcept {
        const std::uint64_t bit = std::uint64_t{1} << number;
        descents_ = is_ascent ? descents_ & ~bit : descents_ | bit;
    }

    /// For names with equal beginnings. Not inlined: rare, and registers are scarce.
    [[gnu::noinline]] static bool is_before(const walked_label& a, const walked_label& b) noexcept {
        return bytes_view{a.name, a.name_size} < bytes_view{b.name, b.name_size};
    }
};

}  // namespace seriesgate
