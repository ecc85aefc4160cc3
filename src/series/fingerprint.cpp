#include "series/fingerprint.hpp"

#include <cstring>

namespace seriesgate {

// Flattened: otherwise XXH3 with a secret is a call. Labels without a faster key hash all their bytes here.
[[gnu::flatten]] std::uint64_t long_text_hash(bytes_view text, const unsigned char* secret) noexcept {
    assert(text.size() > text_piece_bytes);
    std::uint64_t hash = 0;
    for (; text.size() > text_piece_bytes; text.remove_prefix(text_piece_bytes))
        hash = avalanche(hash + piece_hash(text.substr(0, text_piece_bytes), secret));
    return std::max<std::uint64_t>(avalanche(hash + piece_hash(text, secret)), 1);
}

hash_key::hash_key(bytes_view random) {
    assert(random.size() >= random_bytes_min);
    const auto made = std::make_shared<secrets>();
    // Takes any number of bytes except 0; the secret is larger than its minimum.
    XXH3_generateSecret(made->secret.data(), made->secret.size(), random.data(), random.size());
    for (std::size_t at = 0; at < long_secret_bytes; at += sizeof(XXH128_hash_t)) {
        const XXH128_hash_t bits = XXH3_128bits_withSecret(&at, sizeof at, made->secret.data(), text_secret_bytes);
        std::memcpy(made->long_secret.data() + at, &bits, sizeof bits);
    }
    secrets_ = made;
}

const hash_key& hash_key::known_to_all() {
    static const hash_key key{"seriesgate: a key that everybody knows"};
    return key;
}

std::size_t hash_key::operator()(bytes_view text) const noexcept {
    return text_hash(text, secret());
}

std::uint64_t hash_key::identity() const noexcept {
    // 64 hash bits of 192 bytes made from at least 256 random bits cannot be inverted.
    constexpr std::string_view purpose{"identity of a hash key"};
    return (*this)(purpose);
}

namespace {

constexpr bytes_view bucket_suffix{"_bucket"};

/// The suffix of a histogram series' name; empty if there is none.
bytes_view suffix_of(bytes_view name) noexcept {
    for (const bytes_view suffix : {bucket_suffix, bytes_view{"_sum"}, bytes_view{"_count"}})
        if (name.size() > suffix.size() && name.ends_with(suffix)) return suffix;
    return {};
}

/// Separates a histogram's fingerprint from that of a series with the same labels.
constexpr std::uint64_t family_domain = 0xa0761d6478bd642f;

}  // namespace

/// @param ignored whether to sum the ignored labels or the others.
std::uint64_t label_hasher::sum_of(std::span<const label_view> labels, bool ignored) {
    labels_.clear();
    for (const label_view& label : labels)
        if (!label.value.empty() && ignores(label.name) == ignored) labels_.push_back(label);
    assert(labels_.size() <= labels.size());
    std::ranges::stable_sort(labels_, {}, &label_view::name);

    std::uint64_t sum = 0;
    std::uint64_t place = 0;  // among labels of the same name
    for (std::size_t i = 0; i < labels_.size(); ++i) {
        place = i > 0 && labels_[i - 1].name == labels_[i].name ? place + 1 : 0;
        sum += label_hash(text_hash(labels_[i].name, secret()) + place, text_hash(labels_[i].value, secret()));
    }
    return sum;
}

bool label_hasher::ignores(bytes_view name) const noexcept {
    return std::ranges::find(ignored_, name) != ignored_.end();
}

histogram_family label_hasher::family(std::span<const label_view> labels, const tenant_key& tenant, bool is_apart) {
    const bytes_view name = label_value(labels, "__name__");
    const bytes_view suffix = suffix_of(name);
    assert(suffix.empty() || suffix.size() < name.size());
    const bool is_bucket = suffix == bucket_suffix;
    if (suffix.empty() || (is_bucket && label_value(labels, "le").empty())) return {};
    common_.clear();
    for (const label_view& label : labels) {
        if (label.name == "le") continue;
        common_.push_back(label);
        if (label.name == "__name__" && label.value == name) common_.back().value.remove_suffix(suffix.size());
    }
    assert(common_.size() <= labels.size());
    const std::uint64_t sum = (*this)(common_) + (is_apart ? ignored(common_) : 0);
    const std::uint64_t hash = fingerprint_of(sum, {.flip = tenant.flip ^ family_domain, .factor = tenant.factor});
    return {.fingerprint = std::max<std::uint64_t>(hash, 1), .is_total = !is_bucket};
}

tenant_key tenant_key_of(std::string_view tenant, const hash_key& key) noexcept {
    std::array<char, sizeof(std::uint64_t)> in_place;
    if (tenant.size() > text_piece_bytes) {
        const std::uint64_t of_long = text_hash(tenant, key.secret());
        std::memcpy(in_place.data(), &of_long, sizeof of_long);
        tenant = {in_place.data(), in_place.size()};
    }
    const XXH128_hash_t hash = XXH3_128bits_withSecret(tenant.data(), tenant.size(), key.secret(), text_secret_bytes);
    return {.flip = hash.low64, .factor = avalanche(hash.high64) | 1};
}

void label_hasher::shrink() {
    give_back_all(labels_, common_);
}

std::uint64_t ignored_labels_identity(std::vector<std::string> ignored) {
    std::ranges::sort(ignored);
    std::uint64_t identity = 3;  // any number; another one would make every saved state foreign
    for (const std::string& name : ignored) identity = XXH3_64bits_withSeed(name.data(), name.size(), identity);
    return identity;
}

}  // namespace seriesgate
