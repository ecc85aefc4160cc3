#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "fuzz/random_request.hpp"
#include "fuzz/walk_property.hpp"
#include "fuzz/wire_tree.hpp"
#include "support/catch.hpp"
#include "support/source_tree.hpp"
#include "wire/wire_bytes.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;
using namespace std::string_literals;

namespace differential_test {
namespace {

constexpr int request_count = 100000;
constexpr auto code_count = static_cast<std::size_t>(wire_errc::label_bytes_over_limit) + 1;

struct tally {
    int accepted = 0;
    int accepted_with_series = 0;
    int refused = 0;
    int refused_though_libprotobuf_accepts = 0;
    std::array<int, code_count> codes{};

    void count(const walk_check& check) {
        ++codes[static_cast<std::size_t>(check.error.code)];
        if (check.accepted) {
            ++accepted;
            if (!check.seen.series.empty()) ++accepted_with_series;
        } else {
            ++refused;
            if (check.accepted_by_libprotobuf) ++refused_though_libprotobuf_accepts;
        }
    }
};

std::string to_hex(bytes_view bytes) {
    std::string out;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        out += "0123456789abcdef"[byte >> 4];
        out += "0123456789abcdef"[byte & 15];
    }
    return out;
}

std::string mutated(std::string body, bytes_view other, random_source& random) {
    for (auto changes = 1 + below(random, 3); changes > 0; --changes) {
        auto tree = one_in(random, 3) ? std::nullopt : parse_tree(body, message_kind::request);
        if (tree) {
            mutate(*tree, random);
            body = to_bytes(*tree);
        } else {
            mutate_bytes(body, other, random);
        }
    }
    return body;
}

/// How the parsers of the fact sheet take one body.
struct reading {
    bool walk;
    bool libprotobuf;
    bool gogo;
    bool easyproto;
    friend bool operator==(const reading&, const reading&) = default;
};

/// Who sees exactly one series in it.
reading sees_a_series(const std::string& body) {
    const auto one = [](const std::optional<seen_request>& seen) { return seen && seen->series.size() == 1; };
    const walk_check check = check_walk(body);
    CHECK(check.fault.empty());
    return {check.accepted && check.seen.series.size() == 1, one(seen_by_libprotobuf(body)),
            one(seen_by_go(body, go_parser::gogo)), one(seen_by_go(body, go_parser::easyproto))};
}

}  // namespace

TEST_CASE("what the walk accepts of generated and mutated requests, every parser reads as the same series") {
    random_source random{20261121};
    tally originals;
    tally mutants;
    std::string other;
    for (int i = 0; i < request_count; ++i) {
        const std::string original = random_request(random);
        const bool change = !one_in(random, 8);
        const std::string body = change ? mutated(original, other, random) : original;
        const walk_check check = check_walk(body);
        if (!check.fault.empty()) FAIL(check.fault << ", request " << i << ": " << to_hex(body));
        (change ? mutants : originals).count(check);
        other = original;
    }

    CHECK(originals.refused == 0);
    CHECK(originals.accepted_with_series > originals.accepted / 2);
    // Not vacuous: both verdicts are common, and so are requests that a lax parser takes.
    CHECK(mutants.accepted_with_series > mutants.refused / 4);
    CHECK(mutants.refused > mutants.accepted / 4);
    CHECK(mutants.refused_though_libprotobuf_accepts > request_count / 50);
    for (const auto code : {wire_errc::truncated, wire_errc::varint_too_long, wire_errc::tag_not_canonical,
                            wire_errc::field_number_zero, wire_errc::group, wire_errc::unknown_wire_type,
                            wire_errc::wrong_wire_type, wire_errc::packed_truncated, wire_errc::label_without_name}) {
        INFO(to_string({code, 0}));
        CHECK(mutants.codes[static_cast<std::size_t>(code)] > 20);
    }
}

TEST_CASE("what fuzzing starts from and has found holds the property") {
    int files = 0;
    const std::filesystem::path corpus = source_tree() / "tests/fuzz/corpus/fuzz_write_request";
    for (const auto& file : std::filesystem::directory_iterator{corpus}) {
        std::ifstream in{file.path(), std::ios::binary};
        const std::string body{std::istreambuf_iterator<char>{in}, {}};
        INFO(file.path());
        CHECK(check_walk(body).fault.empty());
        ++files;
    }
    CHECK(files >= 9);
}

TEST_CASE("the generator, the tree and its bytes agree") {
    random_source random{7};
    for (int i = 0; i < 2000; ++i) {
        const std::string body = random_request(random);
        const auto tree = parse_tree(body, message_kind::request);
        REQUIRE(tree.has_value());
        REQUIRE((to_bytes(*tree) == body));
    }
}

TEST_CASE("where parsers disagree whether there is a series, the walk refuses") {
    const std::string payload = label("__name__", "up") + sample(1);
    const std::string rest = varint(payload.size()) + payload;
    const std::string record = "\x0a" + rest;
    CHECK(sees_a_series(record) == reading{.walk = true, .libprotobuf = true, .gogo = true, .easyproto = true});

    SECTION("a tag padded to five bytes") {
        CHECK(sees_a_series(varint(0x0a, 5) + rest) ==
              reading{.walk = false, .libprotobuf = true, .gogo = true, .easyproto = true});
    }
    SECTION("a tag padded to six bytes") {
        CHECK(sees_a_series(varint(0x0a, 6) + rest) ==
              reading{.walk = false, .libprotobuf = false, .gogo = true, .easyproto = true});
    }
    SECTION("a tag of 2^32 more") {
        CHECK(sees_a_series(varint(0x10000000a) + rest) ==
              reading{.walk = false, .libprotobuf = true, .gogo = false, .easyproto = false});
    }
    SECTION("a tag of 2^35 more") {
        CHECK(sees_a_series(varint(0x80000000a) + rest) ==
              reading{.walk = false, .libprotobuf = false, .gogo = true, .easyproto = false});
    }
    SECTION("a length padded to six bytes") {
        CHECK(sees_a_series("\x0a" + varint(payload.size(), 6) + payload) ==
              reading{.walk = false, .libprotobuf = false, .gogo = true, .easyproto = true});
    }
    SECTION("a length padded to five bytes is the same for all") {
        CHECK(sees_a_series("\x0a" + varint(payload.size(), 5) + payload) ==
              reading{.walk = true, .libprotobuf = true, .gogo = true, .easyproto = true});
    }
    SECTION("behind a group") {
        CHECK(sees_a_series("\x2b\x2c" + record) ==
              reading{.walk = false, .libprotobuf = true, .gogo = true, .easyproto = false});
    }
    SECTION("inside a group") {
        CHECK(sees_a_series("\x2b" + record + "\x2c") ==
              reading{.walk = false, .libprotobuf = false, .gogo = false, .easyproto = false});
    }
    SECTION("behind a series field with another wire type") {
        CHECK(sees_a_series(varint_field(1, 5) + record) ==
              reading{.walk = false, .libprotobuf = true, .gogo = false, .easyproto = false});
    }
    SECTION("behind field 0") {
        CHECK(sees_a_series("\0\x01"s + record) ==
              reading{.walk = false, .libprotobuf = false, .gogo = false, .easyproto = true});
    }
    SECTION("behind a varint of 65 bits") {
        CHECK(sees_a_series("\x10" + std::string(9, '\xff') + "\x02" + record) ==
              reading{.walk = false, .libprotobuf = true, .gogo = true, .easyproto = false});
    }
}

}  // namespace differential_test
