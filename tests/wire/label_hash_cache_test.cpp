#include "wire/label_hash_cache.hpp"

#include <cstring>
#include <random>

#include "series/fingerprint.hpp"
#include "support/catch.hpp"
#include "wire/wire_bytes.hpp"
#include "wire/write_request.hpp"

namespace seriesgate::testing::label_hash_cache_test {
namespace {

/// As different as a hash, and none comes twice.
std::uint64_t key_of(std::uint64_t series) {
    return avalanche(series + 1);
}
std::uint64_t sum_of(std::uint64_t key) {
    return avalanche(key ^ 0x5bd1e995);
}

/// @return how many of the first `count` series are known.
std::size_t found_of(const label_hash_cache& known, std::uint64_t count) {
    std::size_t found = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        std::uint64_t sum = 0;
        if (!known.find(key_of(i), sum)) continue;
        REQUIRE(sum == sum_of(key_of(i)));
        ++found;
    }
    return found;
}

std::uint64_t key_of_bytes(bytes_view labels) {
    std::uint64_t key = 0;
    labels_keys({&labels, 1}, hash_key::known_to_all(), &key);
    return key;
}

/// What a reader that asks `known` says of a body of one entry.
series_view read_one(const std::string& body, label_hash_cache& known) {
    write_request_reader reader{label_hasher{hash_key::known_to_all()}, &known};
    reader.reset(body);
    REQUIRE(reader.next());
    const series_view series = reader.series();
    REQUIRE_FALSE(reader.next());
    REQUIRE_FALSE(reader.failed());
    return series;
}

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

TEST_CASE("what has been learned is found, and nothing else") {
    constexpr std::uint64_t count = 200'000;
    label_hash_cache known;
    std::uint64_t sum = 77;
    CHECK_FALSE(known.find(key_of(0), sum));
    for (int round = 0; round < 3; ++round)  // what is in the wrong place since it has grown is learned again
        for (std::uint64_t i = 0; i < count; ++i)
            if (!known.find(key_of(i), sum)) known.learn(key_of(i), sum_of(key_of(i)));
    CHECK(found_of(known, count) >= count * 99 / 100);
    for (std::uint64_t i = count; i < 2 * count; ++i) REQUIRE_FALSE(known.find(key_of(i), sum));
    CHECK(known.bytes() <= count * 45);
}

TEST_CASE("a table that is full keeps what it knows, unless it is told to give way") {
    constexpr std::size_t bytes = 64 * 1'024;
    constexpr std::uint64_t room = bytes / 16;
    label_hash_cache known{bytes};
    for (std::uint64_t i = 0; i < 2 * room; ++i) known.learn(key_of(i), sum_of(key_of(i)));
    const std::size_t before = found_of(known, room);
    CHECK(before > room * 8 / 10);
    CHECK(found_of(known, 2 * room) > room * 99 / 100);
    CHECK(known.bytes() == bytes);
    std::size_t fitted = 0;
    for (std::uint64_t i = 2 * room; i < 3 * room; ++i) {
        fitted += known.learn(key_of(i), sum_of(key_of(i)), true) ? 1 : 0;
        std::uint64_t sum = 0;
        CHECK(known.find(key_of(i), sum));
    }
    CHECK(fitted < room / 50);
    CHECK(found_of(known, room) < before / 2);
}

TEST_CASE("labels are recognised by their bytes") {
    const std::string labels = label("__name__", "up") + label("job", "node");
    label_hash_cache known;
    const series_view read = read_one(len_field(1, labels + sample(1)), known);
    std::uint64_t sum = 0;
    REQUIRE(known.find(key_of_bytes(labels), sum));
    CHECK(sum == read.labels_hash);
    SECTION("in front of any plain sample, and nothing of them is read") {
        label_hash_cache wrong;
        wrong.learn(key_of_bytes(labels), 42);
        CHECK(read_one(len_field(1, labels + sample(1)), wrong).labels_hash == 42);
        CHECK(read_one(len_field(1, labels + sample(0)), wrong).labels_hash == 42);
        CHECK(read_one(len_field(1, labels + sample(1) + sample(2)), wrong).labels_hash == read.labels_hash);
        CHECK(read_one(len_field(1, labels + label("pod", "a") + sample(1)), wrong).labels_hash != 42);
    }
    SECTION("but for very long ones, which are read each time") {
        const std::string long_labels = labels + label("z", std::string(keyed_bytes_max, 'z'));
        const std::string body = len_field(1, long_labels + sample(1));
        label_hash_cache none;
        const series_view first = read_one(body, none);
        CHECK(read_one(body, none) == first);
        CHECK(first.samples == 1);
        write_request_reader plain{body};
        REQUIRE(plain.next());
        CHECK(plain.series() == first);
    }
}

TEST_CASE("labels that end like a sample are not cut short") {
    // Value and time of a sample that is none; of either form.
    for (const std::string& like : {sample(0), sample(1), sample(1) + sample(0), sample(0) + sample(1)}) {
        const std::string labels = label("__name__", "up") + label("z", like);
        label_hash_cache known;
        const std::string body = len_field(1, labels + sample(1));
        const series_view first = read_one(body, known);
        CHECK(read_one(body, known) == first);
        write_request_reader plain{body};
        REQUIRE(plain.next());
        CHECK(plain.series() == first);
        // No sample at all: the entry's last bytes belong to a label.
        const series_view without = read_one(len_field(1, labels), known);
        CHECK(without.samples == 0);
        CHECK(read_one(len_field(1, labels), known) == without);
    }
}

TEST_CASE("what is wrong behind entries that are known is told after them") {
    label_hash_cache known;
    const std::string entry = len_field(1, label("__name__", "up") + sample(1));
    const std::string bad = len_field(1, label("", "nameless") + sample(1));
    write_request_reader reader{label_hasher{hash_key::known_to_all()}, &known};
    for (int round = 0; round < 2; ++round) {
        const std::string body = entry + entry + bad + entry;
        reader.reset(body);
        CHECK(reader.next());
        CHECK(reader.next());
        CHECK(reader.left_out() == nullptr);
        CHECK(reader.next());
        REQUIRE(reader.left_out() != nullptr);  // it was not learned
        CHECK(reader.left_out()->fault == series_fault::label_without_name);
        CHECK(reader.next());
        CHECK(reader.left_out() == nullptr);
        CHECK_FALSE(reader.next());
        const std::string cut = entry + entry.substr(0, entry.size() - 1);
        reader.reset(cut);
        CHECK(reader.next());
        CHECK_FALSE(reader.next());
        CHECK(reader.error().code == wire_errc::truncated);
    }
}

TEST_CASE("a lookup that never finds anything is left alone, but for a try now and then") {
    cache_admission credit;
    const auto lookups_of = [&credit](int entries) {
        int lookups = 0;
        for (int i = 0; i < entries; ++i) {
            if (credit.is_given()) {
                ++lookups;
                credit.take();
            } else {
                credit.pass(1);
            }
        }
        return lookups;
    };
    lookups_of(10'000);
    CHECK(lookups_of(1'000'000) < 60'000);
    const auto goes_on_finding = [&credit](int found_of_four) {
        while (!credit.is_given()) credit.pass(100);
        for (int i = 0; i < 100'000 && credit.is_given(); ++i) {
            if (i % 4 < found_of_four) {
                credit.add();
            } else {
                credit.take();
            }
        }
        return credit.is_given();
    };
    CHECK_FALSE(goes_on_finding(2));  // that costs more than it saves
    CHECK(goes_on_finding(3));
}

/// Bodies of up to 2,000 series each, one sample a series, in an order of its own.
std::vector<std::string> scrape_of(std::uint64_t first, std::uint64_t count, std::mt19937_64& random) {
    std::vector<std::uint64_t> all;
    for (std::uint64_t i = 0; i < count; ++i) all.push_back(first + i);
    std::ranges::shuffle(all, random);
    std::vector<std::string> bodies;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (i % 2'000 == 0) bodies.emplace_back();
        bodies.back() += len_field(1, label("__name__", "up") + label("pod", std::to_string(all[i])) + sample(1));
    }
    return bodies;
}

std::size_t found_in(const std::vector<std::string>& bodies, const label_hash_cache& known) {
    std::size_t found = 0;
    for (const std::string& body : bodies) {
        field_cursor entries{body};
        while (entries.next()) {
            const bytes_view entry = entries.read_bytes();
            std::uint64_t sum = 0;
            found += known.find(key_of_bytes(entry.substr(0, entry.size() - sample(1).size())), sum) ? 1 : 0;
        }
    }
    return found;
}

TEST_CASE("after a rollout those that are new are known within some rounds, and those that are gone make room") {
    constexpr std::uint64_t count = 40'000;
    label_hash_cache known{std::size_t{1} << 20};  // with room for 65,536
    write_request_reader reader{label_hasher{hash_key::known_to_all()}, &known};
    std::mt19937_64 random{7};
    const auto send = [&](std::uint64_t first) {
        const auto bodies = scrape_of(first, count, random);
        for (const std::string& body : bodies) entries_in(reader, body);
        return found_in(bodies, known);
    };
    for (int round = 0; round < 4; ++round) send(0);
    CHECK(send(0) > count * 95 / 100);
    send(count);  // fills what was free, and then some
    std::size_t found = 0;
    for (int round = 0; round < 30; ++round) found = send(2 * count);
    CHECK(found > count * 3 / 4);
}

TEST_CASE("what can never be learned does not go on being looked up") {
    label_hash_cache known;
    write_request_reader reader{label_hasher{hash_key::known_to_all()}, &known};
    std::string body;
    for (int i = 0; i < 3'000; ++i) body += len_field(1, label("__name__", std::to_string(i)) + sample(1) + sample(2));
    entries_in(reader, body);
    // Nobody has an eye on the next one.
    known.learn(key_of_bytes(label("__name__", "up")), 42);
    const std::string one = len_field(1, label("__name__", "up") + sample(1));
    reader.reset(one);
    REQUIRE(reader.next());
    CHECK(reader.series().labels_hash != 42);
}

TEST_CASE("while most is found, lookups go on, however much cannot be learned") {
    label_hash_cache known;
    write_request_reader reader{label_hasher{hash_key::known_to_all()}, &known};
    const std::string found = len_field(1, label("__name__", "up") + sample(1));
    std::string body;
    for (int i = 0; i < 1'100; ++i) {
        for (int times = 0; times < 4; ++times) body += found;
        body += len_field(1, label("__name__", std::to_string(i)) + sample(1) + sample(2));
    }
    entries_in(reader, body);
    known.learn(key_of_bytes(label("__name__", "down")), 42);
    const std::string one = len_field(1, label("__name__", "down") + sample(1));
    reader.reset(one);
    REQUIRE(reader.next());
    CHECK(reader.series().labels_hash == 42);
}

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

}  // namespace
}  // namespace seriesgate::testing::label_hash_cache_test
