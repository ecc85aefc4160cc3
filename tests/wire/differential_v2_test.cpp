#include "fuzz/random_request_v2.hpp"
#include "fuzz/walk_property_v2.hpp"
#include "fuzz/wire_tree.hpp"
#include "series/reference_fingerprint.hpp"
#include "support/catch.hpp"
#include "support/sanitizers.hpp"
#include "wire/differential.hpp"
#include "wire/wire_bytes_v2.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace differential_v2_test {
namespace {

constexpr int request_count = sanitized ? 10000 : 100000;
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
    walk_tally originals;
    walk_tally mutants;
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

    check_verdicts(originals, mutants, request_count);
    for (const auto code :
         {wire_errc::truncated, wire_errc::varint_too_long, wire_errc::tag_not_canonical, wire_errc::field_number_zero,
          wire_errc::group, wire_errc::unknown_wire_type, wire_errc::wrong_wire_type, wire_errc::packed_truncated}) {
        INFO(to_string({code, 0}));
        CHECK(mutants.codes[static_cast<std::size_t>(code)] > (sanitized ? 2 : 20));
    }
    for (const auto fault :
         {series_fault::label_without_name, series_fault::unknown_symbol, series_fault::odd_symbol_refs}) {
        INFO(to_string(fault));
        CHECK(mutants.faults[static_cast<std::size_t>(fault)] > (sanitized ? 2 : 20));
    }
}

TEST_CASE("v2: what fuzzing starts from and has found holds the property") {
    CHECK(check_corpus("fuzz_write_request_v2", check_walk_v2) >= 6);
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

    const std::string wide = std::string{"\x81\x80\x80\x80\x80\x80\x80\x80\x80\x02"};
    struct row {
        const char* what;
        std::string body;
        reading expected;  ///< by the walk, libprotobuf and gogo
    };
    for (const auto& [what, body, expected] : std::vector<row>{
             {"a tag padded to six bytes", varint(0x2a, 6).append(rest), {false, false, true}},
             {"a tag of 2^32 more", varint(0x10000002a).append(rest), {false, true, false}},
             {"a tag of 2^35 more", varint(0x80000002a).append(rest), {false, false, true}},
             {"behind a group", join({"\x3b\x3c", record}), {false, true, true}},
             {"behind a symbol with another wire type", join({varint_field(4, 1), record}), {false, true, false}},
             {"a reference of 2^32 more, which names another series than it seems",
              entry({refs({1, 0x100000002}), sample(1)}),
              {false, true, true}},
             {"a reference of 65 bits", entry({len_field(1, wide).append(refs({2}))}), {false, true, true}},
             {"behind a series of remote write 1, which a store that only knows that version finds",
              join({series({label("job", "a"), sample(1)}), record}),
              {false, true, true}}}) {
        INFO(what);
        CHECK(after_symbols(body) == expected);
    }
}

}  // namespace differential_v2_test
