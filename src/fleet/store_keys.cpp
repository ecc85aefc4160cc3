#include "fleet/store_keys.hpp"

#include <cassert>

namespace seriesgate {

store_keys::store_keys(std::string_view name_space)
    : prefix_("sg:{" + std::string{name_space} + "}:" + std::to_string(store_layout) + ":") {
    assert(name_space.find_first_of("{}") == name_space.npos);
}

std::string store_keys::hour(std::uint64_t generation, std::int64_t hour) const {
    return prefix_ + "h:" + std::to_string(generation) + ":" + std::to_string(hour);
}

std::string store_keys::day(std::uint64_t generation, std::int64_t day) const {
    return prefix_ + "d:" + std::to_string(generation) + ":" + std::to_string(day);
}

std::string bucket_key(std::string_view record, std::uint64_t fingerprint, std::uint32_t buckets) {
    assert(buckets != 0 && (buckets & (buckets - 1)) == 0);
    return bucket_key_at(record, fingerprint & (buckets - 1));
}

std::string bucket_key_at(std::string_view record, std::uint64_t bucket) {
    std::string key;
    key.reserve(record.size() + 8);  // at most 2^20 buckets
    key += record;
    key += ':';
    key += std::to_string(bucket);
    return key;
}

std::string member_text(std::uint64_t fingerprint) {
    return std::to_string(static_cast<std::int64_t>(fingerprint));
}

}  // namespace seriesgate
