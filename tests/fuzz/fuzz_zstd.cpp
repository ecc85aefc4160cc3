// Any bytes as a zstd body: decoded within the bounds or refused, and never allocated for beyond them.
#include "fuzz/fuzz_target.hpp"
#include "wire/decompression.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::uint64_t limit = 1 << 20;
    static zstd_codec codec;
    const bytes_view compressed = as_bytes(data, size);
    decode_buffer buffer;
    const auto room = zstd_decoded_size(compressed, limit);
    const auto decoded = codec.decode(compressed, limit, buffer);
    require(buffer.capacity() <= limit, "more than the limit was allocated");
    if (!room) {
        require(!decoded && buffer.capacity() == 0, "memory was allocated for a size that is refused");
        return 0;
    }
    if (!decoded) return 0;
    require(decoded->size() <= *room, "more was decoded than there was room for");

    const std::string raw{*decoded};
    if (!raw.empty()) {
        decode_buffer small;
        require(!codec.decode(compressed, raw.size() - 1, small).has_value(), "a limit was not held");
        require(small.capacity() < raw.size(), "memory was allocated for more than the limit");
    }
    std::string again;
    decode_buffer encoding_room;
    codec.encode(raw, encoding_room, again);
    const auto back = codec.decode(again, limit, buffer);
    require(back.has_value() && *back == raw, "what was encoded does not decode");
    return 0;
}
