#include "limit/group_key.hpp"

#include <cstdint>

#include "core/bytes.hpp"

namespace seriesgate {

void append_key_part(std::string& key, std::string_view part) {
    append_varint(key, part.size());
    key.append(part);
}

std::size_t key_part_bytes(std::string_view part) noexcept {
    return static_cast<std::size_t>(varint_size(part.size())) + part.size();
}

std::optional<std::string_view> take_key_part(std::string_view& key) noexcept {
    std::uint64_t size = 0;
    const char* const end = key.data() + key.size();
    const char* const begin = read_varint(key.data(), end, size);
    if (begin == nullptr || size > static_cast<std::uint64_t>(end - begin)) return std::nullopt;
    const std::string_view part{begin, static_cast<std::size_t>(size)};
    key.remove_prefix(static_cast<std::size_t>(begin - key.data()) + part.size());
    return part;
}

std::vector<std::string> split_key(std::string_view key) {
    std::vector<std::string> parts;
    while (!key.empty()) {
        const auto part = take_key_part(key);
        if (!part) break;  // not one of ours
        parts.emplace_back(*part);
    }
    return parts;
}

}  // namespace seriesgate
