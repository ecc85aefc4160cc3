#include "wire/splice.hpp"

#include <algorithm>
#include <cassert>

namespace seriesgate {
namespace {

/// Snappy compressors work on fragments of this size, and copies never reach back beyond a fragment's start. The format
/// does not promise it, so it is checked. Source: google/snappy format_description.txt, section 3.
constexpr std::size_t fragment_bytes = 64 * 1024;

/// Shorter runs are compressed with their neighbours.
constexpr std::size_t taken_bytes_min = 4 * 1024;

/// Copies [from, to) of the body without the removed ranges. `next` is the first range that ends after `from`; it
/// becomes the first that ends after `to`.
void append_kept(bytes_view body, std::size_t from, std::size_t to, std::span<const byte_range> removed,
                 std::size_t& next, std::string& out) {
    while (from < to) {
        const std::size_t hole = next < removed.size() ? removed[next].offset : to;
        if (hole > from) out.append(body.substr(from, std::min(hole, to) - from));
        if (hole >= to) return;
        from = removed[next].end();
        if (from <= to) ++next;
    }
}

/// The reusable part of a fragment: its bytes before the first removed one.
struct fragment {
    std::size_t begin;
    std::size_t end;
    std::size_t hole;  ///< position of the first removed byte, or the end

    /// @param next the first removed range that ends after `begin`; becomes this fragment's.
    fragment(std::size_t number, bytes_view body, std::span<const byte_range> removed, std::size_t& next) noexcept
        : begin(number * fragment_bytes), end(std::min(begin + fragment_bytes, body.size())), hole(end) {
        while (next < removed.size() && removed[next].end() <= begin) ++next;
        if (next < removed.size()) hole = std::clamp<std::size_t>(removed[next].offset, begin, end);
        assert(begin < end && begin <= hole && hole <= end);
    }
    [[nodiscard]] bool is_worth_it() const noexcept { return hole - begin >= taken_bytes_min; }
};

/// The number of fragments up to the last reusable one, if reusable bytes are an eighth of the body; else 0.
std::size_t fragments_to_look_at(bytes_view body, std::span<const byte_range> removed) noexcept {
    std::size_t bytes = 0;
    std::size_t count = 0;
    std::size_t next = 0;
    for (std::size_t number = 0; number * fragment_bytes < body.size(); ++number) {
        const fragment each{number, body, removed, next};
        if (!each.is_worth_it()) continue;
        bytes += each.hole - each.begin;
        count = number + 1;
    }
    return bytes >= body.size() / 8 ? count : 0;
}

/// Checks splice()'s precondition on ranges.
[[maybe_unused]] bool are_within(bytes_view body, std::span<const byte_range> removed) noexcept {
    std::size_t before = 0;
    for (const byte_range range : removed) {
        if (range.offset < before || range.size > body.size() || range.offset > body.size() - range.size) return false;
        before = range.end();
    }
    return true;
}

}  // namespace

std::size_t spliced_size(bytes_view body, std::span<const byte_range> removed) noexcept {
    assert(are_within(body, removed));
    std::size_t size = body.size();
    for (const byte_range range : removed) size -= range.size;
    return size;
}

void splice(bytes_view body, std::span<const byte_range> removed, std::string& out) {
    assert(are_within(body, removed));
    out.clear();
    out.reserve(spliced_size(body, removed));  // growing in steps would leave giant holes in the heap
    std::size_t next = 0;
    append_kept(body, 0, body.size(), removed, next, out);
    assert(out.size() == spliced_size(body, removed));
}

void splice_snappy(bytes_view compressed, bytes_view body, std::span<const byte_range> removed, std::string& kept,
                   decode_buffer& room, std::string& out) {
    assert(are_within(body, removed) && body.size() <= decoded_bytes_limit);
    const std::size_t fragment_count = fragments_to_look_at(body, removed);
    if (fragment_count == 0) {
        splice(body, removed, kept);
        snappy_encode(kept, room, out);
        return;
    }

    out.clear();
    out.reserve(compressed.size());  // growing in steps would take up to twice the memory
    kept.clear();
    append_varint(out, spliced_size(body, removed));
    const char* const end = compressed.data() + compressed.size();
    std::uint64_t size = 0;
    const char* at = read_varint(compressed.data(), end, size);  // the next element
    std::size_t decoded = 0;                                     // before it
    std::size_t done = 0;                                        // of the body
    std::size_t next_hole = 0;
    std::size_t next_kept = 0;
    for (std::size_t number = 0; number < fragment_count; ++number) {
        const fragment each{number, body, removed, next_hole};
        if (decoded != each.begin) break;  // another compressor's fragments: compress all that is left
        const char* const begin = at;
        const char* taken_end = begin;
        std::size_t taken = each.begin;
        for (bool taking = true; decoded < each.end;) {
            const snappy_element element = read_snappy_element({at, static_cast<std::size_t>(end - at)});
            taking &= decoded + element.size <= each.hole && element.reach <= decoded - each.begin;
            decoded += element.size;
            at += element.bytes();
            assert(at <= end);
            if (!taking) continue;
            taken_end = at;
            taken = decoded;
        }
        if (taken - each.begin < taken_bytes_min) continue;
        assert(taken <= each.hole && done <= each.begin);
        append_kept(body, done, each.begin, removed, next_kept, kept);
        snappy_append(kept, room, out);
        kept.clear();
        out.append(begin, taken_end);
        done = taken;
    }
    append_kept(body, done, body.size(), removed, next_kept, kept);
    assert(next_kept == removed.size());
    snappy_append(kept, room, out);
}

}  // namespace seriesgate
