// Any bytes as a snappy block: decoded as libsnappy decodes them or refused as it does, never allocated for beyond the
// bounds, and without some of what it stands for still a block.
#include <snappy.h>

#include "fuzz/fuzz_target.hpp"
#include "wire/decompression.hpp"
#include "wire/splice.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

/// Ranges that follow from the input, so that a find can be repeated.
std::vector<byte_range> some_ranges(bytes_view compressed, std::size_t size) {
    std::vector<byte_range> ranges;
    std::uint32_t at = 0;
    for (std::size_t i = 0; i + 3 < compressed.size() && i < 64; i += 4) {
        std::uint16_t gap = 0;
        std::uint16_t length = 0;
        std::memcpy(&gap, compressed.data() + i, sizeof gap);
        std::memcpy(&length, compressed.data() + i + 2, sizeof length);
        at += gap;
        length = static_cast<std::uint16_t>(length % 2'048);
        if (at + length > size) break;
        ranges.push_back({at, length});
        at += length;
    }
    return ranges;
}

/// @param compressed decodes to `body`.
void check_splice(bytes_view compressed, bytes_view body) {
    const auto removed = some_ranges(compressed, body.size());
    std::string expected;
    std::string kept;
    std::string out;
    decode_buffer room;
    decode_buffer buffer;
    splice(body, removed, expected);
    splice_snappy(compressed, body, removed, kept, room, out);
    const auto left = snappy_decode(out, decoded_bytes_limit, buffer);
    require(left.has_value() && *left == expected, "a block without some ranges does not decode to what is left");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::uint64_t limit = 1 << 20;
    const bytes_view compressed = as_bytes(data, size);
    decode_buffer buffer;
    const auto declared = snappy_decoded_size(compressed, limit);
    const auto decoded = snappy_decode(compressed, limit, buffer);
    require(buffer.capacity() <= limit, "more than the limit was allocated");
    require(buffer.capacity() <= 22 * size, "more was allocated than the block can hold");
    if (!declared) {
        require(!decoded && buffer.capacity() == 0, "memory was allocated for a size that is refused");
        return 0;
    }
    std::string expected(*declared, '\0');
    const bool is_block = snappy::RawUncompress(compressed.data(), compressed.size(), expected.data());
    const bool has_giant = compressed.find("\xfc\xff\xff\xff\xff") != bytes_view::npos;  // see snappy_decoder.hpp
    require(decoded.has_value() == is_block || (is_block && has_giant), "libsnappy decides otherwise");
    if (!decoded) return 0;
    require(*decoded == expected, "libsnappy decodes it to something else");
    require(decoded->size() == *declared, "the size decoded is not the size declared");

    if (*declared > 0) {
        decode_buffer untouched;
        const auto refused = snappy_decode(compressed, *declared - 1, untouched);
        require(!refused && refused.error().code == wire_errc::declared_size_over_limit, "a limit was not held");
        require(untouched.capacity() == 0, "memory was allocated for more than the limit");
    }
    std::string again;
    decode_buffer room;
    snappy_encode(*decoded, room, again);
    decode_buffer second;
    const auto back = snappy_decode(again, limit, second);
    require(back.has_value() && *back == *decoded, "what was encoded does not decode");
    check_splice(compressed, *decoded);
    check_splice(again, *decoded);
    return 0;
}
