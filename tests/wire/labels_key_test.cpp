#include "wire/label_hash_cache.hpp"

#include <cstring>
#include <random>
#include <set>

#include "series/fingerprint.hpp"
#include "support/catch.hpp"

using namespace seriesgate;

namespace labels_key_test {
namespace {

using keys_of = void (*)(std::span<const bytes_view>, const hash_key&, std::uint64_t*) noexcept;

std::uint64_t key_by(keys_of way, bytes_view labels, const hash_key& key = hash_key::known_to_all()) {
    std::uint64_t made = 0;
    way({&labels, 1}, key, &made);
    return made;
}

std::string random_text(std::size_t size, std::mt19937_64& random) {
    std::string text(size, '\0');
    for (char& each : text) each = static_cast<char>(random());
    return text;
}

std::uint64_t word_at(const void* bytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, sizeof word);
    return word;
}

/// The carry-less key as its formula has it, bit by bit. @param text of 64 bytes and more.
std::uint64_t carryless_by_the_book(bytes_view text, const hash_key& key) {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    const unsigned char* secret = key.long_secret();
    const std::size_t steps = (text.size() + 63) / 64;
    for (std::size_t step = 0; step < steps; ++step) {
        const char* const from = text.data() + (step + 1 < steps ? 64 * step : text.size() - 64);
        for (std::size_t at = 0; at < 64; at += 16, secret += 16) {
            const std::uint64_t a = word_at(from + at) ^ word_at(secret);
            const std::uint64_t b = word_at(from + at + 8) ^ word_at(secret + 8);
            for (unsigned bit = 0; bit < 64; ++bit) {
                if ((b >> bit & 1) == 0) continue;
                low ^= a << bit;
                if (bit != 0) high ^= a >> (64 - bit);
            }
        }
    }
    __extension__ using wide = unsigned __int128;
    const wide product = static_cast<wide>(low ^ word_at(key.secret())) * (high ^ word_at(key.secret() + 8));
    const auto mixed = static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
    return avalanche(mixed + text.size() * 0x9e3779b185ebca87u);
}

}  // namespace

TEST_CASE("every byte of labels counts for their key, and their number") {
    const keys_of way = GENERATE(labels_keys, labels_keys_portable);
    std::set<std::uint64_t> keys;
    std::size_t made = 0;
    for (const std::size_t size : {1u, 16u, 63u, 64u, 65u, 127u, 128u, 129u, 239u, 240u, 241u, 480u, 481u, 4'096u}) {
        const std::string text(size, 'a');
        keys.insert(key_by(way, text));
        ++made;
        for (std::size_t at = 0; at < size; ++at, ++made) {
            std::string other = text;
            other[at] = 'b';
            keys.insert(key_by(way, other));
        }
    }
    CHECK(keys.size() == made);
    CHECK_FALSE(keys.contains(0));
}

TEST_CASE("no labels have no key, and leave those of their neighbours as they are") {
    const keys_of way = GENERATE(labels_keys, labels_keys_portable);
    std::mt19937_64 random{11};
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < 16; ++i) texts.push_back(i % 5 == 0 ? "" : random_text(1 + random() % 700, random));
    const std::vector<bytes_view> labels{texts.begin(), texts.end()};
    std::vector<std::uint64_t> keys(labels.size(), 77);
    way(labels, hash_key::known_to_all(), keys.data());
    for (std::size_t i = 0; i < labels.size(); ++i) {
        CHECK(keys[i] == key_by(way, labels[i]));
        CHECK((keys[i] == 0) == labels[i].empty());
    }
}

TEST_CASE("another secret makes other keys of labels") {
    const keys_of way = GENERATE(labels_keys, labels_keys_portable);
    const hash_key other{"another secret of thirty-two bytes and more"};
    for (const std::size_t size : {10u, 64u, 300u, 4'096u})
        CHECK(key_by(way, std::string(size, 'a'), other) != key_by(way, std::string(size, 'a')));
}

TEST_CASE("keys are what their formulas say, whichever this processor takes") {
    std::mt19937_64 random{12};
    const hash_key& key = hash_key::known_to_all();
    const std::string probe = random_text(100, random);
    const bool is_carryless = key_by(labels_keys, probe) != key_by(labels_keys_portable, probe);
    for (int i = 0; i < 300; ++i) {
        const std::string text = random_text(1 + random() % (i % 10 == 0 ? keyed_bytes_max : 400), random);
        const std::uint64_t expected =
            is_carryless && text.size() >= 64 ? carryless_by_the_book(text, key) : key_by(labels_keys_portable, text);
        REQUIRE(key_by(labels_keys, text) == expected);
    }
}

}  // namespace labels_key_test
