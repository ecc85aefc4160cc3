#include "fleet/store_keys.hpp"

#include <cassert>
#include <utility>

namespace seriesgate {

store_keys::store_keys(std::string_view name_space)
    : prefix_("sg:{" + std::string{name_space} + "}:" + std::to_string(claim_layout) + ":") {
    assert(name_space.find_first_of("{}") == name_space.npos);
}

std::string store_keys::identity() const {
    return prefix_ + "identity";
}

std::string store_keys::gates() const {
    return prefix_ + "gates";
}

std::string store_keys::head() const {
    return prefix_ + "head";
}

std::string store_keys::recovery() const {
    return prefix_ + "recovery";
}

std::string store_keys::untold(std::int64_t hour) const {
    return prefix_ + "untold:" + std::to_string(hour);
}

std::string store_keys::shares(std::int64_t day) const {
    return prefix_ + "shares:" + std::to_string(day);
}

std::string store_keys::hour(std::int64_t hour) const {
    return prefix_ + "h:" + std::to_string(hour);
}

std::string store_keys::feed(std::int64_t of) const {
    return hour(of) + ":feed";
}

std::string store_keys::day(std::int64_t day) const {
    return prefix_ + "d:" + std::to_string(day);
}

std::string store_keys::completed(const std::string& record) {
    return record + ":completed";
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
