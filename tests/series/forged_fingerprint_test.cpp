// What somebody can work out who knows this program but not the secret of an installation: label values whose hashes
// add up to any sum they like. XXH3 of eight bytes is turned round step by step.
#include <bit>
#include <cstring>

#include "series/fingerprint.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing::forged_fingerprint_test {
namespace {

/// The number that makes 1 with an odd one, modulo 2^64.
constexpr std::uint64_t inverse(std::uint64_t odd) {
    std::uint64_t found = odd;
    for (int i = 0; i < 6; ++i) found *= 2 - odd * found;
    return found;
}

/// Of x ^ x >> shift.
constexpr std::uint64_t unshifted(std::uint64_t bits, int shift) {
    std::uint64_t found = bits;
    for (int known = shift; known < 64; known += shift) found = bits ^ found >> shift;
    return found;
}

constexpr std::uint64_t inverse_avalanche(std::uint64_t bits) {
    bits = unshifted(bits, 32) * inverse(0x165667b19e3779f9u);
    bits = unshifted(bits, 29) * inverse(0xc2b2ae3d27d4eb4fu);
    return unshifted(bits, 33);
}

std::uint64_t word(const unsigned char* secret, std::size_t offset) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, secret + offset, sizeof bits);
    return bits;
}

/// Eight bytes with this XXH3-64 under a known secret. Source: xxhash.h, XXH3_len_4to8_64b and XXH3_rrmxmx.
std::string text_of(std::uint64_t hash, const unsigned char* secret) {
    constexpr std::uint64_t factor = inverse(0x9fb21c651e98df25u);
    std::uint64_t bits = unshifted(hash, 28) * factor;
    bits ^= (bits >> 35) + 8;
    bits *= factor;
    // x ^ rotl(x, 49) ^ rotl(x, 24) is, as a polynomial over GF(2), its own inverse's 63rd root: to the power 64 it
    // is 1.
    for (int i = 0; i < 63; ++i) bits ^= std::rotl(bits, 49) ^ std::rotl(bits, 24);
    bits ^= word(secret, 8) ^ word(secret, 16);
    bits = std::rotl(bits, 32);
    std::string text(sizeof bits, '\0');
    std::memcpy(text.data(), &bits, sizeof bits);
    return text;
}

/// As many label sets with two labels as wanted, all with one sum for who knows the secret.
std::vector<std::vector<std::string>> forged(std::size_t count, const unsigned char* secret) {
    std::vector<std::vector<std::string>> made;
    const std::uint64_t name = text_hash("y", secret);
    for (std::size_t i = 0; i < count; ++i) {
        const std::string free = "free" + std::to_string(i);
        const std::uint64_t missing = 0x123456789abcdef0u - label_hash(text_hash("x", secret), text_hash(free, secret));
        made.push_back({free, text_of(inverse_avalanche(missing) - name * 0x9e3779b185ebca87u, secret)});
    }
    return made;
}

std::size_t distinct(const std::vector<std::vector<std::string>>& values, const hash_key& key) {
    label_hasher hasher{key};
    const tenant_key tenant = tenant_key_of("", key);
    std::set<std::uint64_t> fingerprints;
    for (const auto& of : values) {
        const std::vector<label_view> labels{{"x", of[0]}, {"y", of[1]}};
        fingerprints.insert(fingerprint_of(hasher(labels), tenant));
    }
    return fingerprints.size();
}

/// Texts that meet in XXH3's way with more than 240 bytes, for who knows how two words of the secret differ: bits go
/// from the first stripe's first word to the second's where the two agree, so that neither the sum of the words nor
/// that of the products changes. Source: xxhash.h, XXH3_accumulate_512 and its scalar round.
std::vector<std::string> long_texts_that_meet(std::size_t bits, const unsigned char* secret) {
    const std::uint64_t apart = word(secret, 0) ^ word(secret, 8);
    std::vector<std::uint64_t> agreeing;
    for (int bit = 0; bit < 32; ++bit)
        if ((apart >> bit & 1) == 0) agreeing.push_back(std::uint64_t{1} << bit);
    REQUIRE(agreeing.size() >= bits);
    std::vector<std::string> made;
    for (std::uint64_t chosen = 0; chosen < std::uint64_t{1} << bits; ++chosen) {
        std::uint64_t first = 0;
        std::uint64_t second = apart >> 32 << 32;  // both products have the same other half
        for (std::size_t i = 0; i < bits; ++i) (chosen >> i & 1 ? first : second) |= agreeing[i];
        std::string text(256, 'x');
        std::memcpy(text.data(), &first, sizeof first);
        std::memcpy(text.data() + 64, &second, sizeof second);
        made.push_back(std::move(text));
    }
    return made;
}

TEST_CASE("long texts that meet in XXH3 by the thousand do not meet in ours") {
    const hash_key ours{"thirty-two bytes that nobody else has got"};
    const auto texts = long_texts_that_meet(10, ours.secret());
    std::set<std::uint64_t> theirs, hashes, of_tables, tenants;
    for (const std::string& text : texts) {
        theirs.insert(XXH3_64bits_withSecret(text.data(), text.size(), ours.secret(), text_secret_bytes));
        hashes.insert(text_hash(text, ours.secret()));
        of_tables.insert(ours(text));
        tenants.insert(tenant_key_of(text, ours).flip);
    }
    CHECK(theirs.size() == 1);  // so it is right
    CHECK(hashes.size() == texts.size());
    CHECK(of_tables.size() == texts.size());
    CHECK(tenants.size() == texts.size());
}

TEST_CASE("label values made to meet under one secret do not meet under another") {
    const hash_key ours{"thirty-two bytes that nobody else has got"};
    const hash_key other{"thirty-two bytes that someone else has got"};
    constexpr std::size_t count = 10'000;
    const auto values = forged(count, ours.secret());
    CHECK(distinct(values, ours) == 1);  // the forgery is right: so it is the secret that stands against it
    CHECK(distinct(values, other) == count);
    CHECK(distinct(forged(count, reinterpret_cast<const unsigned char*>(XXH3_kSecret)), ours) == count);
}

TEST_CASE("two label sets that meet make no others meet in another tenant, whatever is added to both") {
    // With tenants only added to the sum, one pair with the difference of two tenants would do for all series.
    const tenant_key one = tenant_key_of("one", hash_key::known_to_all());
    const tenant_key two = tenant_key_of("two", hash_key::known_to_all());
    const std::uint64_t in_one = 0x1111'2222'3333'4444u;
    const std::uint64_t target = (in_one ^ one.flip) * one.factor;
    const std::uint64_t in_two = (target * inverse(two.factor)) ^ two.flip;
    REQUIRE(fingerprint_of(in_one, one) == fingerprint_of(in_two, two));
    std::size_t meetings = 0;
    for (std::uint64_t added = 1; added <= 10'000; ++added)
        meetings += fingerprint_of(in_one + avalanche(added), one) == fingerprint_of(in_two + avalanche(added), two);
    CHECK(meetings == 0);
}

TEST_CASE("every random byte of a key counts, and each key has an identity of its own") {
    std::string random(hash_key::random_bytes_min, 'r');
    std::set<std::uint64_t> identities{hash_key{random}.identity(), hash_key::known_to_all().identity()};
    std::set<std::uint64_t> hashes{text_hash("value", hash_key{random}.secret())};
    for (char& byte : random) {
        byte ^= 1;
        identities.insert(hash_key{random}.identity());
        hashes.insert(text_hash("value", hash_key{random}.secret()));
        byte ^= 1;
    }
    CHECK(identities.size() == hash_key::random_bytes_min + 2);
    CHECK(hashes.size() == hash_key::random_bytes_min + 1);
    CHECK(hash_key{random}.identity() == hash_key{random}.identity());
}

}  // namespace
}  // namespace seriesgate::testing::forged_fingerprint_test
