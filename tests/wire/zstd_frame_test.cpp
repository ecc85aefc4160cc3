#include "wire/decompression.hpp"

#include <zstd.h>

#include <random>

#include "support/catch.hpp"
#include "wire/wire_error.hpp"

namespace seriesgate::testing::zstd_frame_test {
namespace {

constexpr std::uint64_t no_limit = 1u << 30;

std::string encoded(bytes_view raw) {
    zstd_codec codec;
    decode_buffer room;
    std::string out;
    codec.encode(raw, room, out);
    return out;
}

/// A frame that does not say its size, as streaming encoders make it.
std::string streamed(bytes_view raw) {
    ZSTD_CCtx* const context = ZSTD_createCCtx();
    std::string out(ZSTD_compressBound(raw.size()), '\0');
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    ZSTD_inBuffer from{raw.data(), raw.size(), 0};
    REQUIRE(ZSTD_compressStream2(context, &to, &from, ZSTD_e_flush) == 0);  // so that the end cannot add it
    REQUIRE(ZSTD_compressStream2(context, &to, &from, ZSTD_e_end) == 0);
    ZSTD_freeCCtx(context);
    out.resize(to.pos);
    return out;
}

std::string decoded(bytes_view compressed, std::uint64_t limit = no_limit) {
    zstd_codec codec;
    decode_buffer buffer;
    const auto raw = codec.decode(compressed, limit, buffer);
    return raw ? std::string{*raw} : to_string(raw.error());
}

std::string random_text(std::size_t size) {
    std::mt19937_64 random{size};
    std::string text(size, '\0');
    for (char& c : text) c = static_cast<char>('a' + random() % 20);
    return text;
}

TEST_CASE("a zstd frame whose blocks hold more than it declares is damaged") {
    const std::string head{"\x28\xb5\x2f\xfd\x20\x0a", 6};  // a single segment of ten bytes
    const std::string raw_block{"\xa1\x00\x00", 3}, repeated{"\x43\x1f\x00\x61", 4};
    CHECK(decoded(head + raw_block + std::string(20, 'a')) == "not a valid zstd frame");
    CHECK(decoded(head + repeated) == "not a valid zstd frame");  // 1000 times 'a'
}

TEST_CASE("a zstd frame decodes to what was encoded") {
    const std::string raw = random_text(GENERATE(std::size_t{0}, 1, 1'000, 300'000));
    CHECK(decoded(encoded(raw)) == raw);
    CHECK(decoded(streamed(raw)) == raw);
    CHECK(*zstd_decoded_size(encoded(raw), no_limit) == raw.size());
}

TEST_CASE("frames after one another are one body, as for every zstd decoder") {
    const std::string one = random_text(5'000);
    const std::string two = random_text(70'000);
    CHECK(decoded(encoded(one) + encoded(two)) == one + two);
    CHECK(decoded(streamed(one) + encoded(two)) == one + two);
    CHECK(decoded(streamed(one) + encoded(two), 75'000) == one + two);
    CHECK(decoded(streamed(one) + encoded(two), 74'999) == "decompresses to more than server.maxDecodedBytes");
    const std::string skippable{"\x50\x2a\x4d\x18\x03\0\0\0abc", 11};
    CHECK(decoded(skippable + encoded(one)) == one);
}

TEST_CASE("a codec is used again, and no request sees another's bytes") {
    zstd_codec codec;
    decode_buffer buffer;
    decode_buffer room;
    std::string out;
    for (const std::size_t size : {100'000u, 10u, 50'000u, 0u}) {
        const std::string raw = random_text(size);
        codec.encode(raw, room, out);
        CHECK(*codec.decode(out, no_limit, buffer) == raw);
        CHECK_FALSE(codec.decode("nonsense", no_limit, buffer).has_value());
    }
}

TEST_CASE("a zstd body is refused before it takes memory") {
    const std::string raw = random_text(100'000);
    CHECK(decoded("") == "empty body: not compressed");
    CHECK(decoded("x") == "not a valid zstd frame");
    CHECK(decoded(encoded(raw), 99'999) == "decompresses to more than server.maxDecodedBytes");
    CHECK(decoded(encoded(raw), 100'000) == raw);
    CHECK(decoded(streamed(raw), 99'999) == "decompresses to more than server.maxDecodedBytes");
    CHECK(decoded(streamed(raw), 100'000) == raw);
    CHECK(decoded(encoded(raw) + encoded(raw), 199'999) == "decompresses to more than server.maxDecodedBytes");

    decode_buffer buffer;
    zstd_codec codec;
    // A frame of one block that says 1 GiB: descriptor 0xa0 is a single segment with four bytes of size.
    const std::string liar{"\x28\xb5\x2f\xfd\xa0\0\0\0\x40\x01\0\0", 12};
    const auto refused = codec.decode(liar, std::uint64_t{1} << 40, buffer);
    REQUIRE_FALSE(refused.has_value());
    CHECK(to_string(refused.error()) == "declares more bytes than compressed data of this size can hold");
    CHECK(buffer.capacity() == 0);
}

TEST_CASE("a zstd frame of 2 GiB is too much whatever the limit says") {
    // Descriptor 0xe0: a single segment with eight bytes of size.
    const std::string frame{"\x28\xb5\x2f\xfd\xe0\0\0\0\x80\0\0\0\0\x01\0\0", 16};
    const auto size = zstd_decoded_size(frame, ~std::uint64_t{0});
    REQUIRE_FALSE(size.has_value());
    CHECK(size.error().code == wire_errc::declared_size_over_limit);
}

TEST_CASE("frames that do not say their size get the room that their bytes can fill, within the limit") {
    const std::string frame = streamed(random_text(100));
    const std::uint64_t possible = frame.size() / 4 * (128 << 10);
    CHECK(*zstd_decoded_size(frame, no_limit) == possible);
    CHECK(*zstd_decoded_size(frame, possible) == possible);
    CHECK(*zstd_decoded_size(frame, possible - 1) == possible - 1);
    CHECK(*zstd_decoded_size(frame + frame, no_limit) == 2 * possible);
    CHECK(*zstd_decoded_size(frame + encoded("abc"), no_limit) == possible + 3);
    CHECK(*zstd_decoded_size(frame + encoded("abc"), 3) == 3);
    CHECK_FALSE(zstd_decoded_size(frame + encoded("abc"), 2).has_value());
}

TEST_CASE("a damaged zstd frame is refused, wherever the damage is") {
    const std::string whole = encoded(random_text(20'000));
    for (std::size_t size = 0; size < whole.size(); size += 1 + whole.size() / 200)
        if (decoded(whole.substr(0, size)).size() == 20'000) FAIL("decoded " << size << " bytes");
    CHECK(decoded(whole + "x") == "not a valid zstd frame");
    CHECK(decoded(std::string{"\x28\xb5\x2f\xfd", 4}) == "not a valid zstd frame");
}

TEST_CASE("a small body decodes to 16 MiB, a larger one to 512 times its size") {
    const std::string zeros(zstd_expanded_bytes_free, '\0');
    CHECK((decoded(encoded(zeros)) == zeros));
    CHECK((decoded(streamed(zeros)) == zeros));
    for (const std::string& more : {encoded(zeros + '\0'), streamed(zeros + '\0'), encoded(zeros) + encoded("x")}) {
        REQUIRE(more.size() < zstd_expanded_bytes_free / zstd_expansion_max);
        CHECK(decoded(more) == "decompresses to more than 512 times its size, and to more than 16777216 bytes");
    }
    CHECK(decoded(encoded(zeros), 1'000) == "decompresses to more than server.maxDecodedBytes");
    SECTION("what does not compress so well is not concerned") {
        const std::string text = random_text(100'000) + zeros;
        CHECK((decoded(encoded(text)) == text));
    }
}

}  // namespace
}  // namespace seriesgate::testing::zstd_frame_test
