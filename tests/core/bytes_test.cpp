#include "core/bytes.hpp"

#include <limits>
#include <random>

#include "core/result.hpp"
#include "core/text.hpp"
#include "support/catch.hpp"

using namespace seriesgate;

namespace {

/// Reads from memory of exactly this size, so that a sanitizer sees one byte too many.
struct read_result {
    bool ok;
    std::uint64_t value;
    std::size_t taken;
};

read_result read(const std::string& text) {
    const std::vector<char> bytes(text.begin(), text.end());
    std::uint64_t value = 0;
    const char* const after = read_varint(bytes.data(), bytes.data() + bytes.size(), value);
    if (after == nullptr) return {false, 0, 0};
    return {true, value, static_cast<std::size_t>(after - bytes.data())};
}

std::vector<std::uint64_t> edge_values() {
    std::vector<std::uint64_t> values{0, std::numeric_limits<std::uint64_t>::max()};
    for (unsigned bit = 0; bit < 64; ++bit) {
        const std::uint64_t power = std::uint64_t{1} << bit;
        values.insert(values.end(), {power - 1, power, power + 1});
    }
    return values;
}

}  // namespace

TEST_CASE("a byte range names its part of a body") {
    const bytes_view body = "0123456789";
    CHECK(slice(body, {2, 3}) == "234");
    CHECK(slice(body, {0, 10}) == body);
    CHECK(slice(body, {10, 0}).empty());
    CHECK(byte_range{2, 3}.end() == 5);
    CHECK(byte_range{2, 3} == byte_range{.offset = 2, .size = 3});
}

TEST_CASE("the end of a range fits 32 bits for every body that is handled") {
    const auto last = static_cast<std::uint32_t>(decoded_bytes_limit);
    CHECK(byte_range{last - 1, 1}.end() == last);
    CHECK(byte_range{0, last}.end() == last);
}

TEST_CASE("a result is a value or an error") {
    enum class fault { none, some };
    const result<int, fault> value = 5;
    const result<int, fault> error = fault::some;
    REQUIRE(value.has_value());
    CHECK(*value == 5);
    REQUIRE_FALSE(error.has_value());
    CHECK(error.error() == fault::some);
}

TEST_CASE("letters are equal whatever their case, and nothing else is") {
    CHECK(equal_ignoring_case("", ""));
    CHECK(equal_ignoring_case("Application/X-Protobuf", "application/x-protobuf"));
    CHECK_FALSE(equal_ignoring_case("a", ""));
    CHECK_FALSE(equal_ignoring_case("a", "ab"));
    CHECK_FALSE(equal_ignoring_case("@", "`"));
    CHECK_FALSE(equal_ignoring_case("[", "{"));
    CHECK_FALSE(equal_ignoring_case("\xc4", "\xe4"));
}

TEST_CASE("a comparison stays within both texts") {
    // Exactly as large as their allocations: AddressSanitizer sees a byte too many.
    const std::string upper(32, 'A');
    const std::string lower(32, 'a');
    const std::string_view one{upper.data(), 32};
    const auto copy = std::make_unique<char[]>(32);
    std::copy(lower.begin(), lower.end(), copy.get());
    CHECK(equal_ignoring_case(one, {copy.get(), 32}));
}

TEST_CASE("a varint has the bytes of the specification's example") {
    std::string out;
    append_varint(out, 150);
    CHECK(out == "\x96\x01");
    CHECK(read("\x96\x01").value == 150);
}

TEST_CASE("what is appended as a varint is read back, and its size is as announced") {
    std::mt19937_64 random{1};
    auto values = edge_values();
    for (int i = 0; i < 10000; ++i) values.push_back(random() >> (random() % 64));
    bool all_right = true;
    for (const std::uint64_t value : values) {
        std::string bytes = "before";
        append_varint(bytes, value);
        bytes.erase(0, 6);
        const auto size = bytes.size();
        const auto back = read(bytes + "after");
        all_right &= back.ok && back.value == value && back.taken == size;
        all_right &= varint_size(value) == static_cast<int>(size);
    }
    CHECK(all_right);
}

TEST_CASE("a varint padded with zero groups to at most ten bytes is read") {
    for (std::size_t size = 2; size <= 10; ++size) {
        CAPTURE(size);
        const std::string padded = '\x85' + std::string(size - 2, '\x80') + '\0';
        const auto back = read(padded);
        CHECK(back.ok);
        CHECK(back.value == 5);
        CHECK(back.taken == size);
    }
}

TEST_CASE("a varint that the input cuts short is refused") {
    for (const std::uint64_t value : edge_values()) {
        std::string bytes;
        append_varint(bytes, value);
        for (std::size_t size = 0; size < bytes.size(); ++size) CHECK_FALSE(read(bytes.substr(0, size)).ok);
    }
}

TEST_CASE("a varint that does not fit 64 bits is refused") {
    const std::string nine(9, '\xff');
    CHECK(read(nine + '\x01').value == std::numeric_limits<std::uint64_t>::max());
    // A 65th bit, all bits of the tenth byte, eleven bytes, and eleven of padding.
    for (const std::string& wide : {nine + '\x02', nine + '\x7f', nine + "\x81\0"s, std::string(10, '\x80') + '\0'})
        CHECK_FALSE(read(wide).ok);
}
