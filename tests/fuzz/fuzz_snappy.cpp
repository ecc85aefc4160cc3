// Any bytes as a snappy block: decoded within the bounds or refused, and never allocated for beyond them.
#include <string>

#include "fuzz/fuzz_target.hpp"
#include "wire/snappy_block.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

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
    if (!decoded) return 0;
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
    return 0;
}
