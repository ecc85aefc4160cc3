#include "wire/snappy_decoder.hpp"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstring>

#include "wire/snappy_elements.hpp"

namespace seriesgate {
namespace {

/// No copy is longer, and few literals are.
constexpr std::size_t copied_max = 64;
/// What copy_near() writes at a time.
constexpr std::size_t piece_bytes = 16;
/// What has to be left of a block, and of the room, for taking an element without looking at their ends.
constexpr std::ptrdiff_t room_min = copied_max + piece_bytes;

template <std::size_t size>
void copy(char* to, const char* from) noexcept {
    struct {
        char bytes[size];
    } piece;  // read before it is written: they may overlap
    std::memcpy(&piece, from, size);
    std::memcpy(to, &piece, size);
}

/// A copy that may repeat what it writes itself. May write copied_max bytes, whatever its size.
/// @param reach less than copied_max, and no more than there is.
[[gnu::noinline]] void copy_near(char* to, std::size_t reach, std::size_t size) noexcept {
    assert(reach > 0 && reach < copied_max && size <= copied_max);
    std::size_t done = 0;
    if (reach < piece_bytes) {
        for (; done < piece_bytes; ++done) to[done] = *(to + done - reach);
        // It repeats itself, so that a multiple of the reach is as good.
        reach *= (piece_bytes + reach - 1) / reach;
    }
    for (; done < size; done += piece_bytes) copy<piece_bytes>(to + done, to + done - reach);
}

/// The way through a block.
struct decoding {
    const char* at;
    const char* const end;
    char* const out;
    char* to;
    char* const out_end;

    /// Takes the elements that are short and far from both ends.
    void go_fast() noexcept;
    /// Takes any one. @return false if it is wrong.
    bool take() noexcept;
};

void decoding::go_fast() noexcept {
    if (end - at < room_min || out_end - to < room_min) return;
    const char* const last = end - room_min;
    char* const last_to = out_end - room_min;
    const char* from = at;  // locals: chars may be written to anything that is not
    char* into = to;
    while (from <= last && into <= last_to) {
        std::uint32_t head = 0;
        std::memcpy(&head, from, sizeof head);
        std::size_t size = (head >> 2 & 63) + 1;
        std::size_t reach = 0;
        std::size_t head_bytes = 3;
        switch (head & 3) {
            case 0:
                if (size > 60) [[unlikely]]
                    goto done;
                copy<copied_max>(into, from + 1);
                into += size;
                from += 1 + size;
                continue;
            case 1:
                size = 4 + (head >> 2 & 7);
                reach = (head >> 5 & 7) << 8 | (head >> 8 & 0xff);
                head_bytes = 2;
                break;
            case 2:
                reach = head >> 8 & 0xffff;
                break;
            default:
                std::memcpy(&head, from + 1, sizeof head);
                reach = head;
                head_bytes = 5;
        }
        if (reach >= copied_max && reach <= static_cast<std::size_t>(into - out)) [[likely]] {
            copy<copied_max>(into, into - reach);
        } else {
            if (reach == 0 || reach > static_cast<std::size_t>(into - out)) break;
            copy_near(into, reach, size);
        }
        into += size;
        from += head_bytes;
    }
done:
    at = from;
    to = into;
}

bool decoding::take() noexcept {
    const snappy_element element = read_snappy_element({at, static_cast<std::size_t>(end - at)});
    const auto room = static_cast<std::size_t>(out_end - to);
    if (element.bytes() > static_cast<std::size_t>(end - at) || element.size > room) return false;
    if (element.is_literal) {
        std::memcpy(to, at + element.head_bytes, element.size);
    } else {
        if (element.reach == 0 || element.reach > static_cast<std::size_t>(to - out)) return false;
        for (std::size_t i = 0; i < element.size; ++i) to[i] = *(to + i - element.reach);
    }
    at += element.bytes();
    to += element.size;
    return true;
}

}  // namespace

bool snappy_decode_elements(bytes_view elements, char* out, std::size_t size) noexcept {
    decoding way{
        .at = elements.data(), .end = elements.data() + elements.size(), .out = out, .to = out, .out_end = out + size};
    for (;;) {
        way.go_fast();
        assert(way.at <= way.end && way.to <= way.out_end);
        if (way.at == way.end) return way.to == way.out_end;
        if (!way.take()) return false;
    }
}

}  // namespace seriesgate
