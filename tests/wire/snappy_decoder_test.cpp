#include "wire/decompression.hpp"

#include <snappy.h>

#include <memory>
#include <random>

#include "support/catch.hpp"
#include "wire/wire_bytes.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;
using namespace std::string_literals;

namespace snappy_decoder_test {
namespace {

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

}  // namespace

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

}  // namespace snappy_decoder_test
