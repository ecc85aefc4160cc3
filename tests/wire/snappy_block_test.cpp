#include "wire/decompression.hpp"

#include <random>

#include "core/bytes.hpp"
#include "support/catch.hpp"
#include "wire/wire_bytes.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;
using namespace std::string_literals;

namespace snappy_block_test {
namespace {

constexpr std::uint64_t mebibyte = 1 << 20;
const std::string framed_stream_start = "\xff\x06\x00\x00sNaPpY"s;

std::string encoded(bytes_view raw) {
    std::string out;
    decode_buffer room;
    snappy_encode(raw, room, out);
    return out;
}

wire_errc decode_error(const std::string& compressed, std::uint64_t limit = 128 * mebibyte) {
    decode_buffer buffer;
    // Memory of exactly its size, so that a sanitizer sees one byte too many.
    const std::vector<char> bytes(compressed.begin(), compressed.end());
    const auto decoded = snappy_decode({bytes.data(), bytes.size()}, limit, buffer);
    return decoded ? wire_errc::none : decoded.error().code;
}

/// What was refused before anything was allocated for it.
wire_errc error_without_allocation(const std::string& compressed, std::uint64_t limit) {
    decode_buffer buffer;
    const auto decoded = snappy_decode(compressed, limit, buffer);
    CHECK(buffer.capacity() == 0);
    return decoded ? wire_errc::none : decoded.error().code;
}

std::string random_bytes(std::mt19937_64& random, std::size_t size, unsigned alphabet) {
    std::string out(size, '\0');
    for (char& byte : out) byte = static_cast<char>(random() % alphabet);
    return out;
}

}  // namespace

TEST_CASE("what is encoded decodes to the same bytes") {
    std::mt19937_64 random{3};
    decode_buffer buffer;
    std::string compressed = "left over from the request before";
    for (int round = 0; round < 300; ++round) {
        const unsigned alphabet = std::vector<unsigned>{1, 2, 16, 256}[random() % 4];
        const std::string raw = random_bytes(random, random() % (round % 10 == 0 ? 200000 : 300), alphabet);
        decode_buffer room;
        snappy_encode(raw, room, compressed);
        const auto size = snappy_decoded_size(compressed, decoded_bytes_limit);
        REQUIRE(size.has_value());
        REQUIRE(*size == raw.size());
        const auto decoded = snappy_decode(compressed, raw.size(), buffer);
        REQUIRE(decoded.has_value());
        REQUIRE((*decoded == raw));
    }
}

TEST_CASE("an empty message is the single byte 0") {
    CHECK(encoded("") == "\0"s);
    decode_buffer buffer;
    const auto decoded = snappy_decode("\0"s, mebibyte, buffer);
    REQUIRE(decoded.has_value());
    CHECK(decoded->empty());
}

TEST_CASE("an empty body is no snappy block") {
    CHECK(decode_error("") == wire_errc::empty_body);
    CHECK(snappy_decoded_size("", mebibyte).error().code == wire_errc::empty_body);
}

TEST_CASE("the framing format is told apart") {
    CHECK(decode_error(framed_stream_start) == wire_errc::snappy_framed);
    CHECK(decode_error(framed_stream_start + "\x01\x05\x00\x00"
                                             "abcdx"s) == wire_errc::snappy_framed);
}

TEST_CASE("a block with more or less than it declares is refused") {
    const std::string literal = "\x10hello"s;  // five bytes
    CHECK(decode_error("\x05" + literal) == wire_errc::none);
    CHECK(decode_error("\x06" + literal) == wire_errc::snappy_corrupt);
    CHECK(decode_error("\x04" + literal) == wire_errc::snappy_corrupt);
    CHECK(decode_error("\x05" + literal + "\x00x"s) == wire_errc::snappy_corrupt);
}

TEST_CASE("a declared size that is no number is refused") {
    CHECK(decode_error("\x80"s) == wire_errc::snappy_corrupt);
    CHECK(decode_error(std::string(11, '\xff')) == wire_errc::snappy_corrupt);
    CHECK(decode_error(varint(5, 6) + "\x10hello") == wire_errc::snappy_corrupt);  // padded beyond five bytes
}

TEST_CASE("what is wrong with a block is wrong with the whole of it: there is no byte to point at") {
    for (const std::string& wrong : {""s, framed_stream_start, "\x80"s, varint(5, 6) + "\x10hello", "\xff\x7f"s}) {
        const auto size = snappy_decoded_size(wrong, mebibyte);
        CAPTURE(wrong);
        REQUIRE_FALSE(size.has_value());
        CHECK(size.error().offset == 0);
    }
}

TEST_CASE("a declared size over the limit is refused before memory is allocated") {
    const std::string raw(1000, 'x');
    const std::string compressed = encoded(raw);
    CHECK(error_without_allocation(compressed, 999) == wire_errc::declared_size_over_limit);
    CHECK(decode_error(compressed, 1000) == wire_errc::none);

    // 2 GiB and more are too much whatever the limit says.
    for (const std::uint64_t size : {1ull << 31, 0xffffffffull, ~0ull})
        CHECK(error_without_allocation(varint(size) + "\x00x"s, ~0ull) == wire_errc::declared_size_over_limit);
}

TEST_CASE("a declared size that no block of this length can reach is refused before memory is allocated") {
    CHECK(error_without_allocation(varint(100 * mebibyte) + std::string(1000, '\0'), 128 * mebibyte) ==
          wire_errc::declared_size_implausible);
    SECTION("just over 22 times") {
        CHECK(error_without_allocation(varint(221) + std::string(8, '\0'), mebibyte) ==
              wire_errc::declared_size_implausible);
        CHECK(snappy_decoded_size(varint(220) + std::string(8, '\0'), mebibyte).has_value());
    }
}

TEST_CASE("a size within every bound is no promise: what does not come out is refused") {
    CHECK(decode_error(varint(22) + std::string(1, '\0')) == wire_errc::snappy_corrupt);
    CHECK(decode_error(varint(0) + "\x00x"s) == wire_errc::snappy_corrupt);
}

TEST_CASE("the best compression that the format allows is accepted") {
    // One literal byte, then copies of 64 bytes in three bytes each.
    for (const std::size_t copies : {1u, 2u, 10u, 1000u, 100000u}) {
        CAPTURE(copies);
        std::string block = varint(1 + 64 * copies) + "\x00x"s;
        for (std::size_t i = 0; i < copies; ++i) block += "\xfe\x01\x00"s;
        decode_buffer buffer;
        const auto decoded = snappy_decode(block, 128 * mebibyte, buffer);
        REQUIRE(decoded.has_value());
        CHECK((*decoded == std::string(1 + 64 * copies, 'x')));
    }
}

TEST_CASE("random bytes are decoded within the bounds or refused") {
    std::mt19937_64 random{5};
    decode_buffer buffer;
    for (int round = 0; round < 20000; ++round) {
        const std::string compressed = random_bytes(random, random() % 40, 256);
        const auto decoded = snappy_decode(compressed, 4096, buffer);
        if (decoded) REQUIRE(decoded->size() <= 22 * compressed.size());
        REQUIRE(buffer.capacity() <= 4096);
    }
}

TEST_CASE("a decode buffer keeps its memory from request to request until it is given back") {
    decode_buffer buffer;
    CHECK(buffer.capacity() == 0);
    const char* const memory = buffer.room_for(1000);
    CHECK(buffer.capacity() == 1000);
    CHECK(static_cast<const void*>(buffer.room_for(10)) == memory);
    CHECK(buffer.capacity() == 1000);
    SECTION("it grows by half at least") {
        buffer.room_for(1001);
        CHECK(buffer.capacity() == 1500);
        buffer.room_for(100000);
        CHECK(buffer.capacity() == 100000);
    }
    SECTION("what is above the size named is given back") {
        give_back(buffer, 1000);
        CHECK(buffer.capacity() == 1000);
        give_back(buffer, 999);
        CHECK(buffer.capacity() == 0);
        buffer.room_for(5);
        CHECK(buffer.capacity() == 5);
    }
}

}  // namespace snappy_block_test
