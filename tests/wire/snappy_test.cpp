#include "wire/decompression.hpp"

#include <snappy.h>

#include <random>

#include "core/bytes.hpp"
#include "support/catch.hpp"
#include "wire/wire_bytes.hpp"

namespace seriesgate::testing::snappy_test {
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

struct decoded {
    bool is_block = false;
    std::string bytes{};

    bool operator==(const decoded&) const = default;
};

/// Memory of exactly its size on both sides, so that a sanitizer sees one byte too many.
decoded decode(bytes_view elements, std::size_t size) {
    const auto in = std::make_unique<char[]>(elements.size());
    std::ranges::copy(elements, in.get());
    const auto out = std::make_unique<char[]>(size);
    if (!snappy_decode_elements({in.get(), elements.size()}, out.get(), size)) return {};
    return {.is_block = true, .bytes{out.get(), size}};
}

decoded decode_by_library(const std::string& elements, std::size_t size) {
    const std::string block = varint(size) + elements;
    decoded made{.bytes = std::string(size, '\0')};
    made.is_block = snappy::RawUncompress(block.data(), block.size(), made.bytes.data());
    if (!made.is_block) made.bytes.clear();
    return made;
}

std::string literal(std::string_view bytes, unsigned size_bytes = 0) {
    std::string out;
    const std::size_t size = bytes.size() - 1;
    out.push_back(static_cast<char>((size_bytes == 0 ? size : 59 + size_bytes) << 2));
    for (unsigned i = 0; i < size_bytes; ++i) out.push_back(static_cast<char>(size >> 8 * i));
    return out.append(bytes);
}

std::string copy_1(std::size_t size, std::size_t reach) {
    return {static_cast<char>(1 | (size - 4) << 2 | reach >> 8 << 5), static_cast<char>(reach)};
}
std::string copy_2(std::size_t size, std::size_t reach) {
    return {static_cast<char>(2 | (size - 1) << 2), static_cast<char>(reach), static_cast<char>(reach >> 8)};
}
std::string copy_4(std::size_t size, std::size_t reach) {
    return {static_cast<char>(3 | (size - 1) << 2), static_cast<char>(reach), static_cast<char>(reach >> 8),
            static_cast<char>(reach >> 16), static_cast<char>(reach >> 24)};
}

/// Elements of every kind; a copy may reach anywhere in what there is, and hardly ever beyond it.
class made_up_block {
    std::mt19937_64 random_;
    std::string elements_{};
    std::size_t size_ = 0;

  public:
    explicit made_up_block(std::uint64_t seed) : random_(seed) {
        for (std::uint64_t left = random_() % 120; left > 0; --left) add_one();
    }
    [[nodiscard]] const std::string& elements() const noexcept { return elements_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

  private:
    void add(const std::string& element, std::size_t size) {
        elements_ += element;
        size_ += size;
    }
    void add_one() {
        const std::uint64_t kind = random_() % 8;
        const std::size_t size = 1 + random_() % 64;
        const std::size_t reach = random_() % 400 == 0 ? random_() % (size_ + 3) : 1 + random_() % (size_ + 1);
        const std::size_t near = 1 + random_() % std::min<std::size_t>(size_ + 1, 80);
        const std::size_t one_reach = std::min<std::size_t>(near, 2047);
        if (size_ == 0 || kind < 2) {
            std::string bytes(random_() % 16 == 0 ? 1 + random_() % 3'000 : size, '\0');
            for (char& each : bytes) each = static_cast<char>(random_());
            const unsigned size_bytes = bytes.size() > 60 ? 2 + static_cast<unsigned>(random_() % 3) : 0;
            add(literal(bytes, size_bytes), bytes.size());
        } else if (kind < 4) {
            add(copy_1(4 + size % 8, one_reach), 4 + size % 8);
        } else if (kind == 4) {
            add(copy_4(size, reach), size);
        } else {
            add(copy_2(size, std::min<std::size_t>(kind == 5 ? near : reach, 65'535)), size);
        }
    }
};

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

TEST_CASE("an empty body, the framing format and a size that is no number are refused, and told apart") {
    CHECK(decode_error("") == wire_errc::empty_body);
    CHECK(snappy_decoded_size("", mebibyte).error().code == wire_errc::empty_body);
    CHECK(decode_error(framed_stream_start) == wire_errc::snappy_framed);
    CHECK(decode_error(framed_stream_start + "\x01\x05\x00\x00"
                                             "abcdx"s) == wire_errc::snappy_framed);
    CHECK(decode_error("\x80"s) == wire_errc::snappy_corrupt);
    CHECK(decode_error(std::string(11, '\xff')) == wire_errc::snappy_corrupt);
    CHECK(decode_error(varint(5, 6) + "\x10hello") == wire_errc::snappy_corrupt);  // padded beyond five bytes
}

TEST_CASE("a block with more or less than it declares is refused") {
    const std::string literal = "\x10hello"s;  // five bytes
    CHECK(decode_error("\x05" + literal) == wire_errc::none);
    CHECK(decode_error("\x06" + literal) == wire_errc::snappy_corrupt);
    CHECK(decode_error("\x04" + literal) == wire_errc::snappy_corrupt);
    CHECK(decode_error("\x05" + literal + "\x00x"s) == wire_errc::snappy_corrupt);
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

TEST_CASE("a block becomes what libsnappy makes of it") {
    std::size_t blocks = 0;
    for (std::uint64_t seed = 0; seed < 4'000; ++seed) {
        CAPTURE(seed);
        const made_up_block block{seed};
        const decoded made = decode(block.elements(), block.size());
        REQUIRE((made == decode_by_library(block.elements(), block.size())));
        blocks += made.is_block ? 1 : 0;
    }
    CHECK(blocks > 2'500);  // else it says little
    CHECK(blocks < 4'000);
}

TEST_CASE("a damaged block is refused where libsnappy refuses it") {
    std::mt19937_64 random{5};
    std::size_t refused = 0;
    for (std::uint64_t seed = 0; seed < 4'000; ++seed) {
        CAPTURE(seed);
        const made_up_block block{seed};
        std::string elements = block.elements();
        std::size_t size = block.size();
        if (elements.empty()) continue;
        switch (random() % 4) {
            case 0:
                elements[random() % elements.size()] ^= static_cast<char>(1u << random() % 8);
                break;
            case 1:
                elements.resize(random() % elements.size());
                break;
            case 2:
                size += random() % 3;
                size -= std::min<std::size_t>(size, random() % 3);
                break;
            default:
                elements += static_cast<char>(random());
        }
        const decoded made = decode(elements, size);
        REQUIRE((made == decode_by_library(elements, size)));
        refused += made.is_block ? 0 : 1;
    }
    CHECK(refused > 2'000);
}

TEST_CASE("a copy that reaches into itself repeats it") {
    const std::string first = "0123456789abcdefghijklmnopqrstuvwxyz";
    for (const std::size_t in_front : {0u, 200u})  // near the end of the room, and far from it
        for (std::size_t reach = 1; reach <= first.size(); ++reach)
            for (std::size_t size = 1; size <= 64; ++size) {
                CAPTURE(in_front, reach, size);
                std::string expected = first;
                for (std::size_t i = 0; i < size; ++i) expected += expected[expected.size() - reach];
                const std::string padding(in_front + 1, '.');
                const decoded made =
                    decode(literal(first) + copy_2(size, reach) + literal(padding, 2) + literal(padding, 2),
                           expected.size() + 2 * padding.size());
                REQUIRE(made.is_block);
                REQUIRE(made.bytes == expected + padding + padding);
            }
}

TEST_CASE("every reach and size of a block's elements is taken at its word") {
    const std::string far(70'000, 'f');
    const std::string marked = "mark" + far;
    const std::string whole = literal(marked, 3);
    CHECK(decode(whole + copy_4(4, marked.size()), marked.size() + 4).bytes == marked + "mark");
    CHECK_FALSE(decode(whole + copy_4(4, marked.size() + 1), marked.size() + 4).is_block);
    CHECK_FALSE(decode(whole + copy_4(4, 0), marked.size() + 4).is_block);
    CHECK_FALSE(decode(whole + copy_4(4, 0xffff'ffff), marked.size() + 4).is_block);
    CHECK_FALSE(decode(literal("a") + copy_2(1, 0), 2).is_block);
    // A literal of 4 GiB: libsnappy takes it for an empty one.
    const std::string giant = "\xfc\xff\xff\xff\xff";
    CHECK_FALSE(decode(giant + literal("a"), 1).is_block);
    CHECK_FALSE(decode(literal("a") + giant, 1).is_block);
    CHECK(decode("", 0).is_block);
    CHECK_FALSE(decode("", 1).is_block);
}

}  // namespace
}  // namespace seriesgate::testing::snappy_test
