#include "wire/decompression.hpp"

#include <snappy.h>
#include <zstd_errors.h>

#include <new>

namespace seriesgate {
namespace {

/// The format's maximum: a copy element with a two-byte offset makes 64 bytes out of 3.
constexpr std::uint64_t ratio_max = 22;

/// First chunk of the framing format: stream identifier, length 6.
constexpr bytes_view framed_magic{"\xff\x06\x00\x00sNaPpY", 10};

/// libsnappy accepts no longer sizes.
constexpr std::ptrdiff_t size_bytes_max = 5;

struct block {
    std::size_t size;     ///< decoded
    bytes_view elements;  ///< after the size
};

result<block, wire_error> open_block(bytes_view compressed, std::uint64_t decoded_bytes_max) {
    if (compressed.empty()) return wire_error{wire_errc::empty_body, 0};
    if (compressed.starts_with(framed_magic)) return wire_error{wire_errc::snappy_framed, 0};
    std::uint64_t declared = 0;
    const char* const end = compressed.data() + compressed.size();
    const char* const elements = read_varint(compressed.data(), end, declared);
    if (elements == nullptr) return wire_error{wire_errc::snappy_corrupt, 0};
    if (declared > std::min(decoded_bytes_max, decoded_bytes_limit))
        return wire_error{wire_errc::declared_size_over_limit, 0, declared};
    if (elements - compressed.data() > size_bytes_max) return wire_error{wire_errc::snappy_corrupt, 0};
    if (declared > ratio_max * compressed.size()) return wire_error{wire_errc::declared_size_implausible, 0};
    return block{.size = declared, .elements = {elements, static_cast<std::size_t>(end - elements)}};
}

/// No copy is longer, and few literals are.
constexpr std::size_t copied_max = 64;
/// Bytes that copy_near() writes at a time.
constexpr std::size_t piece_bytes = 16;
/// Bytes that must remain in block and output to take an element without bounds checks.
constexpr std::ptrdiff_t room_min = copied_max + piece_bytes;

/// In a register: GCC writes a struct of bytes to the stack as well, which is a tenth of all decoding.
using piece = unsigned char __attribute__((vector_size(piece_bytes)));

piece piece_at(const char* from) noexcept {
    piece read;
    std::memcpy(&read, from, sizeof read);
    return read;
}

void write_piece(char* to, piece bytes) noexcept {
    std::memcpy(to, &bytes, sizeof bytes);
}

/// Copies copied_max bytes. All are read before any is written: source and target may overlap.
void copy_most(char* to, const char* from) noexcept {
    static_assert(copied_max == 4 * piece_bytes);
    const piece first = piece_at(from);
    const piece second = piece_at(from + piece_bytes);
    const piece third = piece_at(from + 2 * piece_bytes);
    const piece fourth = piece_at(from + 3 * piece_bytes);
    write_piece(to, first);
    write_piece(to + piece_bytes, second);
    write_piece(to + 2 * piece_bytes, third);
    write_piece(to + 3 * piece_bytes, fourth);
}

/// Copies from an overlapping source. May write copied_max bytes, whatever the size.
/// @param reach less than copied_max, and at most the bytes written so far.
[[gnu::noinline]] void copy_near(char* to, std::size_t reach, std::size_t size) noexcept {
    assert(reach > 0 && reach < copied_max && size <= copied_max);
    std::size_t done = 0;
    if (reach < piece_bytes) {
        for (; done < piece_bytes; ++done) to[done] = *(to + done - reach);
        // The bytes repeat with period `reach`, so a multiple of it is equivalent.
        reach *= (piece_bytes + reach - 1) / reach;
    }
    for (; done < size; done += piece_bytes) write_piece(to + done, piece_at(to + done - reach));
}

struct decoding {
    const char* at;
    const char* const end;
    char* const out;
    char* to;
    char* const out_end;

    /// Takes short elements far from both ends.
    void go_fast() noexcept;
    /// Takes any element. @return false if it is invalid.
    bool take() noexcept;
};

void decoding::go_fast() noexcept {
    if (end - at < room_min || out_end - to < room_min) return;
    const char* const last = end - room_min;
    const auto made_most = static_cast<std::size_t>(out_end - room_min - out);
    // Local copies: char stores could alias members, but not these.
    char* const into = out;
    const char* from = at;
    auto made = static_cast<std::size_t>(to - out);
    const auto copy_made = [&](std::size_t reach, std::size_t size) {
        if (reach > made) return false;
        if (reach >= copied_max) [[likely]] {
            copy_most(into + made, into + made - reach);
        } else {
            if (reach == 0) return false;
            copy_near(into + made, reach, size);
        }
        made += size;
        return true;
    };
    while (from <= last && made <= made_most) {
        std::uint32_t head = 0;
        std::memcpy(&head, from, sizeof head);
        const std::size_t size = ((head & 0xff) >> 2) + 1;
        const auto kind = head & 3;
        if (kind == 2) [[likely]] {
            if (!copy_made(head >> 8 & 0xffff, size)) break;
            from += 3;
        } else if (kind == 0) {
            if (size > 60) break;
            copy_most(into + made, from + 1);
            made += size;
            from += 1 + size;
        } else if (kind == 1) {
            if (!copy_made((head & 0xe0) << 3 | (head >> 8 & 0xff), 4 + (head >> 2 & 7))) break;
            from += 2;
        } else {
            std::memcpy(&head, from + 1, sizeof head);
            if (!copy_made(head, size)) break;
            from += 5;
        }
    }
    at = from;
    to = into + made;
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

/// The smallest block, three header bytes and a repeated one, makes 128 KiB.
/// Source: RFC 8878, 3.1.1.2.
constexpr std::uint64_t block_bytes_min = 4;
constexpr std::uint64_t block_decoded_max = 128 << 10;

/// vmagent's level for blocks of our size; higher levels cost more than they save between two hosts.
constexpr int level = 1;

constexpr wire_error corrupt{wire_errc::zstd_corrupt};

std::uint64_t whole_bound(std::uint64_t decoded_bytes_max) {
    return std::min(decoded_bytes_max, decoded_bytes_limit);
}

/// The bound for this body: lower for small ones, because decoding is work too.
std::uint64_t bound_of(bytes_view compressed, std::uint64_t decoded_bytes_max) {
    const std::uint64_t by_size =
        std::max<std::uint64_t>(zstd_expanded_bytes_free, zstd_expansion_max * compressed.size());
    return std::min(whole_bound(decoded_bytes_max), by_size);
}

}  // namespace

result<std::size_t, wire_error> snappy_decoded_size(bytes_view compressed, std::uint64_t decoded_bytes_max) {
    const auto opened = open_block(compressed, decoded_bytes_max);
    if (!opened) return opened.error();
    return opened->size;
}

result<bytes_view, wire_error> snappy_decode(bytes_view compressed, std::uint64_t decoded_bytes_max,
                                             decode_buffer& buffer) {
    const auto opened = open_block(compressed, decoded_bytes_max);
    if (!opened) return opened.error();
    assert(opened->size <= decoded_bytes_limit && opened->size <= decoded_bytes_max);
    char* const decoded = buffer.room_for(opened->size);
    if (!snappy_decode_elements(opened->elements, decoded, opened->size))
        return wire_error{wire_errc::snappy_corrupt, 0};
    return bytes_view{decoded, opened->size};
}

void snappy_encode(bytes_view raw, decode_buffer& room, std::string& out) {
    out.clear();
    append_varint(out, raw.size());
    snappy_append(raw, room, out);
}

void snappy_append(bytes_view raw, decode_buffer& room, std::string& out) {
    // Not snappy::Compress: it zeroes the maximum size first.
    assert(raw.size() <= decoded_bytes_limit);
    char* const compressed = room.room_for(snappy::MaxCompressedLength(raw.size()));
    std::size_t size = 0;
    snappy::RawCompress(raw.data(), raw.size(), compressed, &size);
    assert(size <= room.capacity());
    const auto size_bytes = static_cast<std::size_t>(varint_size(raw.size()));
    assert(size >= size_bytes);
    out.append(compressed + size_bytes, size - size_bytes);
}

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

result<std::size_t, wire_error> zstd_decoded_size(bytes_view compressed, std::uint64_t decoded_bytes_max) {
    if (compressed.empty()) return wire_error{wire_errc::empty_body, 0};
    const std::uint64_t limit = bound_of(compressed, decoded_bytes_max);
    std::uint64_t declared_sum = 0;
    std::uint64_t possible_sum = 0;  // of frames that do not declare it
    for (bytes_view left = compressed; !left.empty();) {
        const std::size_t size = ZSTD_findFrameCompressedSize(left.data(), left.size());
        if (ZSTD_isError(size)) return corrupt;
        const unsigned long long declared = ZSTD_getFrameContentSize(left.data(), left.size());
        if (declared == ZSTD_CONTENTSIZE_ERROR) return corrupt;
        const std::uint64_t possible = size / block_bytes_min * block_decoded_max;
        if (declared == ZSTD_CONTENTSIZE_UNKNOWN) {
            possible_sum += possible;
        } else {
            if (declared > whole_bound(decoded_bytes_max) - declared_sum)
                return wire_error{wire_errc::declared_size_over_limit, 0,
                                  std::max<std::uint64_t>(declared, declared_sum + declared)};
            if (declared > possible) return wire_error{wire_errc::declared_size_implausible, 0};
            if (declared > limit - declared_sum) return wire_error{wire_errc::expands_too_much, 0};
            declared_sum += declared;
        }
        assert(size > 0 && size <= left.size());
        left.remove_prefix(size);
    }
    return static_cast<std::size_t>(std::min(limit, declared_sum + possible_sum));
}

result<bytes_view, wire_error> zstd_codec::decode(bytes_view compressed, std::uint64_t decoded_bytes_max,
                                                  decode_buffer& buffer) {
    const auto size = zstd_decoded_size(compressed, decoded_bytes_max);
    if (!size) return size.error();
    assert(*size <= decoded_bytes_limit && *size <= decoded_bytes_max);
    if (!decoder_) decoder_.reset(ZSTD_createDCtx());
    if (!decoder_) throw std::bad_alloc{};
    char* const decoded = buffer.room_for(*size);
    // In one step: the output is the window, so a frame cannot demand memory of its own.
    const std::size_t written =
        ZSTD_decompressDCtx(decoder_.get(), decoded, *size, compressed.data(), compressed.size());
    if (ZSTD_isError(written)) {
        // Only where a bound has cut the room can a sound frame need more.
        const bool is_cut = *size == bound_of(compressed, decoded_bytes_max);
        if (!is_cut || ZSTD_getErrorCode(written) != ZSTD_error_dstSize_tooSmall) return corrupt;
        const bool is_whole = *size == whole_bound(decoded_bytes_max);
        return wire_error{is_whole ? wire_errc::declared_size_over_limit : wire_errc::expands_too_much, 0};
    }
    assert(written <= *size);
    return bytes_view{decoded, written};
}

void zstd_codec::encode(bytes_view raw, decode_buffer& room, std::string& out) {
    if (!encoder_) encoder_.reset(ZSTD_createCCtx());
    if (!encoder_) throw std::bad_alloc{};
    const std::size_t most = ZSTD_compressBound(raw.size());
    char* const compressed = room.room_for(most);
    const std::size_t written = ZSTD_compressCCtx(encoder_.get(), compressed, most, raw.data(), raw.size(), level);
    if (ZSTD_isError(written)) throw std::bad_alloc{};  // with room for the worst case nothing else can fail
    assert(written <= most);
    out.assign(compressed, written);
}

}  // namespace seriesgate
