#include "wire/snappy_block.hpp"

#include <snappy.h>

#include <algorithm>
#include <cassert>

#include "core/bytes.hpp"
#include "wire/snappy_decoder.hpp"

namespace seriesgate {
namespace {

/// Best case of the format: a copy element with a two-byte offset makes 64 bytes out of 3.
constexpr std::uint64_t ratio_max = 22;

/// First chunk of the framing format: stream identifier, length 6.
constexpr bytes_view framed_magic{"\xff\x06\x00\x00sNaPpY", 10};

/// libsnappy takes no longer sizes.
constexpr std::ptrdiff_t size_bytes_max = 5;

struct block {
    std::size_t size;     ///< decoded
    bytes_view elements;  ///< behind the size
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
    // Not snappy::Compress, which fills with zeros all that the result might need.
    assert(raw.size() <= decoded_bytes_limit);
    char* const compressed = room.room_for(snappy::MaxCompressedLength(raw.size()));
    std::size_t size = 0;
    snappy::RawCompress(raw.data(), raw.size(), compressed, &size);
    assert(size <= room.capacity());
    const auto size_bytes = static_cast<std::size_t>(varint_size(raw.size()));
    assert(size >= size_bytes);
    out.append(compressed + size_bytes, size - size_bytes);
}

}  // namespace seriesgate
