#include "fuzz/random_request_v2.hpp"
#include "fuzz/walk_property_v2.hpp"
#include "series/reference_fingerprint.hpp"
#include "support/catch.hpp"
#include "support/sanitizers.hpp"
#include "wire/differential.hpp"
#include "wire/wire_bytes_v2.hpp"

namespace seriesgate::testing::differential_v2_test {
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
    const walk_check check = check_walk_v2(body);
    CHECK(check.fault.empty());
    const auto message = parse_v2(body);
    return {check.accepted && check.seen.series.size() == 1, message && one(seen_by_libprotobuf_v2(*message)),
            one(seen_by_gogo_v2(body))};
}

TEST_CASE("v2: what the walk accepts of generated and mutated requests, every parser reads as the same series") {
    const auto check = [](bytes_view body, random_source& random) {
        walk_check made = check_walk_v2(body);
        if (made.fault.empty() && made.accepted) made.fault = check_splice_v2(body, made, random);
        return made;
    };
    const auto mutants = check_generated(random_source{20261122}, request_count, random_request_v2, mutated, check);
    check_reasons(
        mutants, sanitized ? 2 : 20,
        {wire_errc::truncated, wire_errc::varint_too_long, wire_errc::tag_not_canonical, wire_errc::field_number_zero,
         wire_errc::group, wire_errc::unknown_wire_type, wire_errc::wrong_wire_type, wire_errc::packed_truncated},
        {series_fault::label_without_name, series_fault::unknown_symbol, series_fault::odd_symbol_refs});
}

TEST_CASE("v2: what fuzzing starts from and has found holds the property") {
    CHECK(check_corpus("fuzz_write_request_v2", check_walk_v2) >= 6);
}

TEST_CASE("v2: the generator, the tree and its bytes agree") {
    check_trees(random_source{8}, message_kind::request_v2, random_request_v2);
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

}  // namespace
}  // namespace seriesgate::testing::differential_v2_test
