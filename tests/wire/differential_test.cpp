#include "wire/differential.hpp"
#include "fuzz/random_request.hpp"
#include "support/catch.hpp"
#include "support/sanitizers.hpp"
#include "wire/wire_bytes.hpp"

namespace seriesgate::testing::differential_test {
namespace {

constexpr int request_count = sanitized ? 10'000 : 100'000;

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

TEST_CASE("what the walk accepts of generated and mutated requests, every parser reads as the same series") {
    const auto mutants = check_generated(random_source{20261121}, request_count, random_request, mutated,
                                         [](bytes_view body, random_source&) { return check_walk(body); });
    check_reasons(mutants, sanitized ? 2 : 20,
                  {wire_errc::truncated, wire_errc::varint_too_long, wire_errc::tag_not_canonical,
                   wire_errc::field_number_zero, wire_errc::group, wire_errc::unknown_wire_type,
                   wire_errc::wrong_wire_type, wire_errc::packed_truncated, wire_errc::field_of_version_2},
                  {series_fault::label_without_name});
}

TEST_CASE("what fuzzing starts from and has found holds the property") {
    CHECK(check_corpus("fuzz_write_request", check_walk) >= 9);
}

TEST_CASE("the generator, the tree and its bytes agree") {
    check_trees(random_source{7}, message_kind::request, random_request);
}

TEST_CASE("where parsers disagree whether there is a series, the walk refuses") {
    const std::string payload = label("__name__", "up") + sample(1);
    const std::string rest = varint(payload.size()) + payload;
    const std::string record = "\x0a" + rest;
    CHECK(sees_a_series(record) == reading{.walk = true, .libprotobuf = true, .gogo = true, .easyproto = true});

    struct row {
        const char* what;
        std::string body;
        reading expected;  ///< by the walk, libprotobuf, gogo and easyproto
    };
    for (const auto& [what, body, expected] : std::vector<row>{
             {"a tag padded to five bytes", varint(0x0a, 5) + rest, {false, true, true, true}},
             {"a tag padded to six bytes", varint(0x0a, 6) + rest, {false, false, true, true}},
             {"a tag of 2^32 more", varint(0x10000000a) + rest, {false, true, false, false}},
             {"a tag of 2^35 more", varint(0x80000000a) + rest, {false, false, true, false}},
             {"a length padded to six bytes", "\x0a" + varint(payload.size(), 6) + payload, {false, false, true, true}},
             {"a length padded to five bytes is the same for all",
              "\x0a" + varint(payload.size(), 5) + payload,
              {true, true, true, true}},
             {"behind a group", "\x2b\x2c" + record, {false, true, true, false}},
             {"inside a group", "\x2b" + record + "\x2c", {false, false, false, false}},
             {"behind a series field with another wire type", varint_field(1, 5) + record, {false, true, false, false}},
             {"behind field 0", "\0\x01"s + record, {false, false, false, true}},
             {"behind a varint of 65 bits",
              "\x10" + std::string(9, '\xff') + "\x02" + record,
              {false, true, true, false}}}) {
        INFO(what);
        CHECK(sees_a_series(body) == expected);
    }
}

}  // namespace
}  // namespace seriesgate::testing::differential_test
