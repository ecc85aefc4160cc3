#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "fuzz/random_request_v2.hpp"
#include "fuzz/walk_property_v2.hpp"
#include "fuzz/wire_tree.hpp"
#include "series/reference_fingerprint.hpp"
#include "support/catch.hpp"
#include "support/sanitizers.hpp"
#include "support/source_tree.hpp"
#include "wire/wire_bytes_v2.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace differential_v2_test {
namespace {

constexpr int request_count = sanitized ? 10000 : 100000;
constexpr auto code_count = static_cast<std::size_t>(wire_errc::request_symbol_bytes_over_limit) + 1;

struct tally {
    int accepted = 0;
    int accepted_with_series = 0;
    int refused = 0;
    int refused_though_libprotobuf_accepts = 0;
    std::array<int, code_count> codes{};

    void count(const walk_check_v2& check) {
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
        auto tree = one_in(random, 4) ? std::nullopt : parse_tree(body, message_kind::request_v2);
        if (!tree) {
            mutate_bytes(body, other, random);
            continue;
        }
        if (one_in(random, 2)) {
            mutate_refs(*tree, random);
        } else {
            mutate(*tree, random);
        }
        body = to_bytes(*tree);
    }
    return body;
}

/// Who sees exactly one series in a body.
struct reading {
    bool walk;
    bool libprotobuf;
    bool gogo;
    friend bool operator==(const reading&, const reading&) = default;
};

reading sees_a_series(const std::string& body) {
    const auto one = [](const std::optional<seen_request>& seen) { return seen && seen->series.size() == 1; };
    const walk_check_v2 check = check_walk_v2(body);
    CHECK(check.fault.empty());
    const auto message = parse_v2(body);
    return {check.accepted && check.seen.series.size() == 1, message && one(seen_by_libprotobuf_v2(*message)),
            one(seen_by_gogo_v2(body))};
}

}  // namespace

TEST_CASE("v2: what the walk accepts of generated and mutated requests, every parser reads as the same series") {
    random_source random{20261122};
    tally originals;
    tally mutants;
    std::string other;
    for (int i = 0; i < request_count; ++i) {
        const std::string original = random_request_v2(random);
        const bool change = !one_in(random, 8);
        const std::string body = change ? mutated(original, other, random) : original;
        const walk_check_v2 check = check_walk_v2(body);
        if (!check.fault.empty()) FAIL(check.fault << ", request " << i << ": " << to_hex(body));
        if (check.accepted) {
            const std::string wrong = check_splice_v2(body, check, random);
            if (!wrong.empty()) FAIL(wrong << ", request " << i << ": " << to_hex(body));
        }
        (change ? mutants : originals).count(check);
        other = original;
    }

    CHECK(originals.refused == 0);
    CHECK(originals.accepted_with_series > originals.accepted / 2);
    // Not vacuous: both verdicts are common, and so are requests that a lax parser takes.
    CHECK(mutants.accepted_with_series > mutants.refused / 4);
    CHECK(mutants.refused > mutants.accepted / 4);
    CHECK(mutants.refused_though_libprotobuf_accepts > request_count / 50);
    for (const auto code :
         {wire_errc::truncated, wire_errc::varint_too_long, wire_errc::tag_not_canonical, wire_errc::field_number_zero,
          wire_errc::group, wire_errc::unknown_wire_type, wire_errc::wrong_wire_type, wire_errc::packed_truncated,
          wire_errc::label_without_name, wire_errc::symbol_ref_out_of_range, wire_errc::symbol_refs_odd}) {
        INFO(to_string({code, 0}));
        CHECK(mutants.codes[static_cast<std::size_t>(code)] > (sanitized ? 2 : 20));
    }
}

TEST_CASE("v2: what fuzzing starts from and has found holds the property") {
    int files = 0;
    const std::filesystem::path corpus = source_tree() / "tests/fuzz/corpus/fuzz_write_request_v2";
    for (const auto& file : std::filesystem::directory_iterator{corpus}) {
        std::ifstream in{file.path(), std::ios::binary};
        const std::string body{std::istreambuf_iterator<char>{in}, {}};
        INFO(file.path());
        CHECK(check_walk_v2(body).fault.empty());
        ++files;
    }
    CHECK(files >= 6);
}

TEST_CASE("v2: the generator, the tree and its bytes agree") {
    random_source random{8};
    for (int i = 0; i < 2000; ++i) {
        const std::string body = random_request_v2(random);
        const auto tree = parse_tree(body, message_kind::request_v2);
        REQUIRE(tree.has_value());
        REQUIRE((to_bytes(*tree) == body));
    }
}

TEST_CASE("v2: where parsers disagree whether there is a series, the walk refuses") {
    constexpr reading everyone{.walk = true, .libprotobuf = true, .gogo = true};
    const std::string payload = refs({1, 2, 3, 4}).append(sample(1));
    const std::string rest = varint(payload.size()).append(payload);
    const std::string record = entry({payload});
    const auto after_symbols = [](std::string_view bytes) { return sees_a_series(join({five_symbols, bytes})); };
    CHECK(after_symbols(record) == everyone);
    CHECK(after_symbols(padded_len_field(5, payload, 5)) == everyone);
    CHECK(sees_a_series(join({record, five_symbols})) == everyone);

    SECTION("a tag padded to six bytes") {
        CHECK(after_symbols(varint(0x2a, 6).append(rest)) ==
              reading{.walk = false, .libprotobuf = false, .gogo = true});
    }
    SECTION("a tag of 2^32 more") {
        CHECK(after_symbols(varint(0x10000002a).append(rest)) ==
              reading{.walk = false, .libprotobuf = true, .gogo = false});
    }
    SECTION("a tag of 2^35 more") {
        CHECK(after_symbols(varint(0x80000002a).append(rest)) ==
              reading{.walk = false, .libprotobuf = false, .gogo = true});
    }
    SECTION("behind a group") {
        CHECK(after_symbols(join({"\x3b\x3c", record})) == reading{.walk = false, .libprotobuf = true, .gogo = true});
    }
    SECTION("behind a symbol with another wire type") {
        CHECK(after_symbols(join({varint_field(4, 1), record})) ==
              reading{.walk = false, .libprotobuf = true, .gogo = false});
    }
    SECTION("a reference of 2^32 more, which names another series than it seems") {
        CHECK(after_symbols(entry({refs({1, 0x100000002}), sample(1)})) ==
              reading{.walk = false, .libprotobuf = true, .gogo = true});
    }
    SECTION("a reference of 65 bits") {
        const std::string wide = std::string{"\x81\x80\x80\x80\x80\x80\x80\x80\x80\x02"};
        CHECK(after_symbols(entry({len_field(1, wide).append(refs({2}))})) ==
              reading{.walk = false, .libprotobuf = true, .gogo = true});
    }
    SECTION("behind a series of remote write 1, which a store that only knows that version finds") {
        CHECK(after_symbols(join({series({label("job", "a"), sample(1)}), record})) ==
              reading{.walk = false, .libprotobuf = true, .gogo = true});
    }
}

}  // namespace differential_v2_test
