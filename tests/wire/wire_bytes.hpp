/// Protocol Buffers bytes made by hand, right ones and wrong ones, for tests of the walk.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes.hpp"
#include "support/source_tree.hpp"
#include "wire/decompression.hpp"
#include "wire/field_cursor.hpp"

namespace seriesgate::testing {

/// Little-endian bytes.
inline std::string fixed64(std::uint64_t bits) {
    std::string out;
    for (int shift = 0; shift < 64; shift += 8) out.push_back(static_cast<char>(bits >> shift));
    return out;
}

/// The varint of `value`, filled up with zero groups to `size` bytes where that is more than it needs.
inline std::string varint(std::uint64_t value, std::size_t size = 1) {
    std::string out;
    append_varint(out, value);
    while (out.size() < size) {
        out.back() = static_cast<char>(out.back() | 0x80);
        out.push_back('\0');
    }
    return out;
}

inline std::string tag(std::uint32_t field, wire_type type) {
    return varint(tag_of(field, type));
}

inline std::string len_field(std::uint32_t field, std::string_view payload) {
    return tag(field, wire_type::len).append(varint(payload.size())).append(payload);
}

/// A length-delimited field whose length takes `length_bytes` bytes.
inline std::string padded_len_field(std::uint32_t field, std::string_view payload, std::size_t length_bytes) {
    return tag(field, wire_type::len) + varint(payload.size(), length_bytes) + std::string{payload};
}

inline std::string varint_field(std::uint32_t field, std::uint64_t value) {
    return tag(field, wire_type::varint).append(varint(value));
}

inline std::string fixed64_field(std::uint32_t field, std::uint64_t bits) {
    return tag(field, wire_type::fixed64).append(fixed64(bits));
}

inline std::string fixed32_field(std::uint32_t field, std::string_view four_bytes) {
    return tag(field, wire_type::fixed32) + std::string{four_bytes};
}

inline std::string join(std::initializer_list<std::string_view> parts) {
    std::string out;
    for (const auto part : parts) out.append(part);
    return out;
}

/// Record of a label within a series.
inline std::string label(std::string_view name, std::string_view value) {
    return len_field(1, len_field(1, name) + len_field(2, value));
}

/// Record of a sample within a series.
inline std::string sample_bits(std::uint64_t value, std::uint64_t timestamp = 1700000000000) {
    return len_field(2, fixed64_field(1, value) + varint_field(2, timestamp));
}

inline std::string sample(double value) {
    return sample_bits(std::bit_cast<std::uint64_t>(value));
}

/// Record of an integer histogram within a series, with `sum` as bits.
inline std::string histogram_bits(std::uint64_t sum) {
    return len_field(4, varint_field(1, 3) + fixed64_field(3, sum) + varint_field(15, 1700000000000));
}

/// Record of an exemplar within a series.
inline std::string exemplar() {
    return len_field(3, label("trace_id", "abc") + fixed64_field(2, 0) + varint_field(3, 1700000000000));
}

/// Record of a series within a request.
inline std::string series(std::initializer_list<std::string_view> parts) {
    return len_field(1, join(parts));
}

/// Record of a metadata entry within a request.
inline std::string metadata(std::string_view family) {
    return len_field(3, varint_field(1, 1) + len_field(2, family) + len_field(4, "some help"));
}

/// Reads a request to its end. @return how many entries there were
std::size_t entries_in(auto& reader, const std::string& body, auto... bound) {
    reader.reset(body, bound...);
    std::size_t entries = 0;
    while (reader.next()) ++entries;
    return entries;
}

/// A file under tests/, as bytes.
inline std::string read_test_file(const std::string& path) {
    std::ifstream in{source_tree() / "tests" / path, std::ios::binary};
    if (!in) throw std::runtime_error("no such test file: " + path);
    return {std::istreambuf_iterator<char>{in}, {}};
}

/// A recorded request, decoded.
inline std::string decoded_file(const std::string& path) {
    decode_buffer buffer;
    const std::string compressed = read_test_file(path);
    const auto body = snappy_decode(compressed, decoded_bytes_limit, buffer);
    if (!body) throw std::runtime_error("cannot decode " + path);
    return std::string{*body};
}

/// The files of tests/data/FOLDER, in order.
inline std::vector<std::string> recorded_files(const std::string& folder) {
    std::vector<std::string> paths;
    for (const auto& file : std::filesystem::directory_iterator{source_tree() / "tests/data" / folder})
        paths.push_back("data/" + folder + "/" + file.path().filename().string());
    std::ranges::sort(paths);
    return paths;
}

}  // namespace seriesgate::testing
