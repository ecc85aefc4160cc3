#include "fleet/set_dump.hpp"

#include <cstddef>
#include <optional>

namespace seriesgate {
namespace {

constexpr unsigned char type_intset = 11;
constexpr std::size_t footer_bytes = 2 + 8;
constexpr std::size_t intset_header_bytes = 4 + 4;

unsigned char byte_at(std::string_view bytes, std::size_t at) noexcept {
    return static_cast<unsigned char>(bytes[at]);
}

/// Lowest byte first, with the sign of the highest one. @param size at most 8
std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t size) noexcept {
    std::uint64_t value = (byte_at(bytes, at + size - 1) & 0x80) != 0 ? ~std::uint64_t{0} : 0;
    for (std::size_t i = size; i-- > 0;) value = value << 8 | byte_at(bytes, at + i);
    return value;
}

/// Takes the length off that a string has before it. @return nothing for the forms of strings that are none as they are
std::optional<std::uint64_t> take_length(std::string_view& bytes) noexcept {
    if (bytes.empty()) return std::nullopt;
    const unsigned char first = byte_at(bytes, 0);
    std::size_t more = 0;
    std::uint64_t length = 0;
    if (first < 0x40) {
        length = first;
    } else if (first < 0x80) {
        length = first & 0x3f;
        more = 1;
    } else if (first == 0x80) {
        more = 4;
    } else if (first == 0x81) {
        more = 8;
    } else {
        return std::nullopt;
    }
    if (bytes.size() < 1 + more) return std::nullopt;
    for (std::size_t i = 0; i < more; ++i) length = length << 8 | byte_at(bytes, 1 + i);  // highest byte first
    bytes.remove_prefix(1 + more);
    return length;
}

}  // namespace

bool read_set_dump(std::string_view payload, std::vector<std::uint64_t>& into) {
    if (payload.size() < 1 + footer_bytes || byte_at(payload, 0) != type_intset) return false;
    std::string_view set = payload.substr(1, payload.size() - 1 - footer_bytes);
    const std::optional<std::uint64_t> length = take_length(set);
    if (length != set.size() || set.size() < intset_header_bytes) return false;
    const std::uint64_t size = number_at(set, 0, 4);
    const std::uint64_t count = number_at(set, 4, 4);
    set.remove_prefix(intset_header_bytes);
    if ((size != 2 && size != 4 && size != 8) || set.size() % size != 0 || count != set.size() / size) return false;
    into.reserve(into.size() + static_cast<std::size_t>(count));
    for (std::size_t at = 0; at < set.size(); at += static_cast<std::size_t>(size))
        into.push_back(number_at(set, at, static_cast<std::size_t>(size)));
    return true;
}

}  // namespace seriesgate
