// Sets as DUMP gives them: as the format says, as real servers write them, and anything else.
#include "fleet/set_reading.hpp"

#include <bit>
#include <random>

#include "fleet/shared_store.hpp"
#include "support/catch.hpp"
#include "support/fingerprints.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

using numbers = std::vector<std::uint64_t>;

const std::string footer(10, '\x7f');  // version and checksum, which nobody looks at

std::string little(std::uint64_t number, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(number >> 8 * i);
    return text;
}

/// @param length the bytes that say how long the intset is
std::string dump_of(const std::string& length, std::uint64_t size, std::uint64_t count, const std::string& members) {
    std::string payload{"\x0b"};
    payload.append(length).append(little(size, 4)).append(little(count, 4)).append(members).append(footer);
    return payload;
}

std::optional<numbers> read(const std::string& payload) {
    numbers into;
    const bool is_read = read_set_dump(payload, into);
    CHECK((is_read || into.empty()));
    return is_read ? std::optional{into} : std::nullopt;
}

std::uint64_t minus(std::int64_t number) {
    return static_cast<std::uint64_t>(-number);
}

/// What the store has under a key, with the text of its DUMP.
std::string dump_in(shared_store& store, const numbers& members) {
    std::vector<std::string> words{"SADD", "k"};
    for (const std::uint64_t each : members) words.push_back(member_text(each));
    store.connection().ask({"DEL", "k"});
    store.connection().ask(words);
    return store.connection().text({"DUMP", "k"});
}

numbers sorted(numbers list) {
    std::ranges::sort(list);
    return list;
}

}  // namespace

TEST_CASE("members have two, four or eight bytes and a sign") {
    CHECK(read(dump_of("\x0c", 2, 2, little(minus(2), 2) + little(1, 2))) == numbers{minus(2), 1});
    CHECK(read(dump_of("\x10", 4, 2, little(minus(70'000), 4) + little(70'000, 4))) == numbers{minus(70'000), 70'000});
    CHECK(read(dump_of("\x10", 8, 1, little(std::uint64_t{1} << 63, 8))) == numbers{std::uint64_t{1} << 63});
    CHECK(read(dump_of("\x08", 8, 0, "")) == numbers{});
}

TEST_CASE("the length has 6, 14, 32 or 64 bits") {
    const std::string many(2 * 100, '\x05');
    const numbers each(100, 0x0505);
    CHECK(read(dump_of({"\x40\xd0", 2}, 2, 100, many)) == each);
    CHECK(read(dump_of({"\x80\0\0\0\xd0", 5}, 2, 100, many)) == each);
    CHECK(read(dump_of({"\x81\0\0\0\0\0\0\0\xd0", 9}, 2, 100, many)) == each);
    CHECK(read(dump_of({"\x40\x0c", 2}, 2, 2, "\x01\x02\x03\x04")) == numbers{0x0201, 0x0403});
}

TEST_CASE("what is no such set, or not whole, adds nothing") {
    CHECK_FALSE(read(""));
    CHECK_FALSE(read(std::string{"\x0b"}.append(footer)));
    CHECK_FALSE(read(std::string{"\x02"}.append(dump_of("\x0a", 2, 1, "ab").substr(1))));  // of another type
    CHECK_FALSE(read(dump_of("\xc3\x0a\x0a", 2, 1, "ab")));                                // compressed
    CHECK_FALSE(read(dump_of("\x0b", 2, 1, "ab")));                                        // longer than it is
    CHECK_FALSE(read(dump_of("\x09", 2, 1, "ab")));                                        // shorter
    CHECK_FALSE(read(dump_of("\x0a", 2, 2, "ab")));                                        // too many
    CHECK_FALSE(read(dump_of("\x0a", 2, 0, "ab")));                                        // too few
    CHECK_FALSE(read(dump_of("\x0a", 2, 0xffffffff, "ab")));                               // by far
    CHECK_FALSE(read(dump_of("\x0a", 1, 2, "ab")));                                        // of no size that there is
    CHECK_FALSE(read(dump_of("\x0a", 0, 0, "ab")));                                        // of none
    CHECK_FALSE(read(dump_of("\x0b", 2, 1, "abc")));                                       // and a half
    CHECK_FALSE(read(dump_of("\x81\xff\xff\xff\xff\xff\xff\xff\xff", 2, 1, "ab")));
    CHECK_FALSE(read(dump_of("\x82", 2, 1, "ab")));
}

TEST_CASE("a payload that is cut short, or was changed, is never read beyond its end") {
    const std::string whole = dump_of({"\x40\xd0", 2}, 2, 100, std::string(200, 'x'));
    for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) CHECK_FALSE(read(whole.substr(0, bytes)));
    std::mt19937_64 random{1};
    for (int i = 0; i < 20'000; ++i) {
        std::string changed = whole.substr(0, random() % (whole.size() + 1));
        for (int change = 0; change < 3 && !changed.empty(); ++change)
            changed[random() % std::min<std::size_t>(changed.size(), 16)] = static_cast<char>(random());
        const std::string copy{changed.begin(), changed.end()};  // of just that size, for the sanitizers
        const auto members = read(copy);
        if (members) CHECK(members->size() <= copy.size() / 2);
    }
}

TEST_CASE("what a real server writes is read, or known for another form") {
    shared_store store;
    SECTION("sets of fingerprints, up to the most that are compact") {
        const std::size_t count = GENERATE(1u, 2u, 7u, 8u, 64u, 256u, 511u, 512u);
        numbers members;
        for (std::size_t i = 0; i < count; ++i) members.push_back(fingerprint_of(i));
        const auto came = read(dump_in(store, members));
        REQUIRE(came.has_value());
        CHECK(sorted(*came) == sorted(members));
    }
    SECTION("small numbers") {
        const std::int64_t bound = GENERATE(30'000, 2'000'000'000);
        numbers members;
        for (std::uint64_t i = 0; i < 100; ++i)
            members.push_back(static_cast<std::uint64_t>(static_cast<std::int64_t>(fingerprint_of(i)) % bound));
        const auto came = read(dump_in(store, members));
        REQUIRE(came.has_value());
        CHECK(sorted(*came) == sorted(members));
    }
    SECTION("one too many for a compact set") {
        numbers members;
        for (std::size_t i = 0; i < 513; ++i) members.push_back(fingerprint_of(i));
        CHECK_FALSE(read(dump_in(store, members)));
    }
    SECTION("a set that it can compress") {
        numbers members;
        for (std::uint64_t i = 0; i < 500; ++i) members.push_back(i << 32);
        CHECK_FALSE(read(dump_in(store, members)));
    }
    SECTION("words, a string, a hash") {
        auto& to = store.connection();
        to.ask({"SADD", "w", "a", "b"});
        to.ask({"SET", "s", "text"});
        to.ask({"HSET", "h", "f", "v"});
        for (const char* const key : {"w", "s", "h"}) CHECK_FALSE(read(to.text({"DUMP", key})));
    }
}
