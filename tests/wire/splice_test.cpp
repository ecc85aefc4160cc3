#include <random>

#include "support/catch.hpp"
#include "wire/decompression.hpp"
#include "wire/splice.hpp"
#include "wire/wire_bytes.hpp"

namespace seriesgate::testing::splice_test {
namespace {

std::string spliced(bytes_view body, const std::vector<byte_range>& removed) {
    std::string out = "left over from the request before";
    splice(body, removed, out);
    return out;
}

std::string decoded(bytes_view compressed) {
    decode_buffer buffer;
    const auto body = snappy_decode(compressed, decoded_bytes_limit, buffer);
    REQUIRE(body.has_value());
    return std::string{*body};
}

std::string spliced_snappy(bytes_view compressed, bytes_view body, const std::vector<byte_range>& removed) {
    std::string out = "left over";
    std::string kept = "from the request before";
    decode_buffer room;
    splice_snappy(compressed, body, removed, kept, room, out);
    return out;
}

/// Some ranges of a body of that size, most of them small.
std::vector<byte_range> random_ranges(std::mt19937_64& random, std::size_t size) {
    std::vector<byte_range> ranges;
    std::size_t at = 0;
    for (auto count = random() % 6; count > 0; --count) {
        at += random() % (size + 1);
        const std::size_t length = 1 + random() % (random() % 4 == 0 ? 100'000 : 300);
        if (at + length > size) break;
        ranges.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(length)});
        at += length;
    }
    return ranges;
}

/// A block of any elements that the format allows, as no compressor writes them.
std::string random_block(std::mt19937_64& random, bool reaches_back) {
    std::string elements;
    std::size_t size = 0;
    const std::size_t wanted = random() % 300'000;
    const auto number = [&](std::uint64_t value, unsigned bytes) {
        for (; bytes > 0; --bytes, value >>= 8) elements.push_back(static_cast<char>(value));
    };
    while (size < wanted) {
        // Within a fragment, and ending with it, or anywhere.
        const std::size_t room = reaches_back ? std::size_t{1} << 20 : 65'536 - size % 65'536;
        const std::size_t behind = reaches_back ? size : size % 65'536;
        const std::size_t length = std::min<std::size_t>(room, 1 + random() % 64);
        const std::size_t reach = behind == 0 ? 0 : 1 + random() % behind;
        const auto kind = behind == 0 ? 0 : random() % 5;
        if (kind == 1 && length >= 4 && length < 12 && reach < 2048) {
            elements.push_back(static_cast<char>(1 | (length - 4) << 2 | reach >> 8 << 5));
            number(reach, 1);
        } else if (kind == 2 && reach < 65'536) {
            elements.push_back(static_cast<char>(2 | (length - 1) << 2));
            number(reach, 2);
        } else if (kind == 3) {
            elements.push_back(static_cast<char>(3 | (length - 1) << 2));
            number(reach, 4);
        } else if (kind == 4) {
            const std::size_t many = std::min<std::size_t>(room, 1 + random() % 70'000);
            const unsigned bytes = many <= 256 ? 1 : many <= 65'536 ? 2 : 3;
            elements.push_back(static_cast<char>((59 + bytes) << 2));
            number(many - 1, bytes);
            for (std::size_t i = 0; i < many; ++i) elements.push_back(static_cast<char>(random()));
            size += many - length;
        } else {
            const std::size_t few = std::min<std::size_t>(length, 60);
            elements.push_back(static_cast<char>((few - 1) << 2));
            for (std::size_t i = 0; i < few; ++i) elements.push_back(static_cast<char>(random()));
            size += few - length;
        }
        size += length;
    }
    std::string block;
    append_varint(block, size);
    return block + elements;
}

TEST_CASE("a splice equals the bytes picked one by one") {
    std::mt19937_64 random{2};
    for (int round = 0; round < 2000; ++round) {
        std::string body;
        std::string expected;
        std::vector<byte_range> removed;
        for (auto pieces = random() % 10; pieces > 0; --pieces) {
            std::string piece(random() % 20, '\0');
            for (char& byte : piece) byte = static_cast<char>(random());
            if (random() % 2 == 0) {
                removed.push_back({static_cast<std::uint32_t>(body.size()), static_cast<std::uint32_t>(piece.size())});
            } else {
                expected += piece;
            }
            body += piece;
        }
        REQUIRE(spliced(body, removed) == expected);
    }
}

TEST_CASE("a splice reuses the memory of the request before") {
    std::string out;
    const std::string body(10000, 'x');
    splice(body, {}, out);
    const char* const memory = out.data();
    splice(bytes_view{body}.substr(0, 5000), {}, out);
    CHECK(out.size() == 5000);
    CHECK(static_cast<const void*>(out.data()) == memory);
}

TEST_CASE("a snappy block without some ranges decodes to what is left") {
    std::mt19937_64 random{5};
    const bool reaches_back = GENERATE(false, true);
    std::size_t most_taken = 0;
    for (int round = 0; round < 300; ++round) {
        const std::string block = random_block(random, reaches_back);
        const std::string body = decoded(block);
        const auto removed = random_ranges(random, body.size());
        const std::string out = spliced_snappy(block, body, removed);
        REQUIRE((decoded(out) == spliced(body, removed)));
        most_taken = std::max(most_taken, std::min(out.size(), block.size()));
    }
    CHECK(most_taken > 100'000);
}

TEST_CASE("what stands before the first range removed is not compressed again") {
    const std::string compressed = read_test_file("data/prometheus-3.5-v1/00003.snappy");
    const std::string body = decoded(compressed);
    const auto end = static_cast<std::uint32_t>(body.size());
    // All but the size in front, which changes, and the end of the last fragment.
    const auto same_bytes = [&](const std::string& out) {
        const auto differ = std::mismatch(out.begin() + 3, out.end(), compressed.begin() + 3, compressed.end());
        return static_cast<std::size_t>(differ.first - out.begin()) - 3;
    };
    const std::string without_end = spliced_snappy(compressed, body, {{end - 300, 300}});
    CHECK(decoded(without_end) == body.substr(0, body.size() - 300));
    CHECK(same_bytes(without_end) > compressed.size() * 95 / 100);

    const std::uint32_t middle = 4 * 65'536 + 10'000;
    const std::string without_middle = spliced_snappy(compressed, body, {{middle, 300}});
    CHECK(decoded(without_middle) == spliced(body, {{middle, 300}}));
    const std::string tail = compressed.substr(compressed.size() - compressed.size() / 3);
    CHECK(without_middle.ends_with(tail));
    CHECK(same_bytes(without_middle) > compressed.size() * 2 / 5);
    CHECK(without_middle.size() < compressed.size() * 103 / 100);
}

TEST_CASE("a body of which little stands before a range removed is compressed whole") {
    const std::string compressed = read_test_file("data/prometheus-3.5-v1/00003.snappy");
    const std::string body = decoded(compressed);
    std::vector<byte_range> removed;
    for (std::uint32_t at = 100; at + 2'000 < body.size(); at += 4'000) removed.push_back({at, 2'000});
    std::string whole;
    decode_buffer room;
    snappy_encode(spliced(body, removed), room, whole);
    CHECK((spliced_snappy(compressed, body, removed) == whole));
}

TEST_CASE("all of a snappy block can be removed, and nothing") {
    const std::string compressed = read_test_file("data/prometheus-3.5-v1/00003.snappy");
    const std::string body = decoded(compressed);
    CHECK(spliced_snappy(compressed, body, {{0, static_cast<std::uint32_t>(body.size())}}) == std::string(1, '\0'));
    CHECK((spliced_snappy(compressed, body, {}) == compressed));
}

}  // namespace
}  // namespace seriesgate::testing::splice_test
