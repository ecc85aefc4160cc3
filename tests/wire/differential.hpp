/// What the differential tests of both versions of remote write count and show.
#pragma once

#include <filesystem>
#include <initializer_list>

#include "fuzz/walk_property.hpp"
#include "fuzz/wire_tree.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"
#include "support/source_tree.hpp"
#include "wire/wire_error.hpp"

namespace seriesgate::testing {

struct walk_tally {
    int accepted = 0;
    int accepted_with_series = 0;
    int refused = 0;
    int refused_though_libprotobuf_accepts = 0;
    std::array<int, static_cast<std::size_t>(wire_errc::request_symbol_bytes_over_limit) + 1> codes{};
    std::array<int, static_cast<std::size_t>(series_fault::count_)> faults{};

    void count(const walk_check& check) {
        ++codes.at(static_cast<std::size_t>(check.error.code));
        for (const auto& each : check.left_out) ++faults.at(static_cast<std::size_t>(each.fault));
        if (check.accepted) {
            ++accepted;
            if (!check.seen.series.empty()) ++accepted_with_series;
        } else {
            ++refused;
            if (check.accepted_by_libprotobuf) ++refused_though_libprotobuf_accepts;
        }
    }
};

/// Not vacuous: both verdicts are common, and so are requests that a lax parser takes.
inline void check_verdicts(const walk_tally& originals, const walk_tally& mutants, int request_count) {
    CHECK(originals.refused == 0);
    CHECK(originals.accepted_with_series > originals.accepted / 2);
    CHECK(mutants.accepted_with_series > mutants.refused / 4);
    CHECK(mutants.refused > mutants.accepted / 4);
    CHECK(mutants.refused_though_libprotobuf_accepts > request_count / 50);
}

/// Each of these is the reason for more than so many refusals.
inline void check_reasons(const walk_tally& mutants, int least, std::initializer_list<wire_errc> codes,
                          std::initializer_list<series_fault> faults) {
    for (const wire_errc code : codes) {
        INFO(to_string({code, 0}));
        CHECK(mutants.codes[static_cast<std::size_t>(code)] > least);
    }
    for (const series_fault fault : faults) {
        INFO(to_string(fault));
        CHECK(mutants.faults[static_cast<std::size_t>(fault)] > least);
    }
}

inline std::string to_hex(bytes_view bytes) {
    std::string out;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        out += "0123456789abcdef"[byte >> 4];
        out += "0123456789abcdef"[byte & 15];
    }
    return out;
}

/// Generates requests, mutates most of them and checks them all, by `check(body, random)`.
/// @return what came of the mutated ones
walk_tally check_generated(random_source random, int request_count, const auto& generate, const auto& mutated,
                           const auto& check) {
    walk_tally originals;
    walk_tally mutants;
    std::string other;
    for (int i = 0; i < request_count; ++i) {
        const std::string original = generate(random);
        const bool change = !one_in(random, 8);
        const std::string body = change ? mutated(original, other, random) : original;
        const walk_check made = check(body, random);
        if (!made.fault.empty()) FAIL(made.fault << ", request " << i << ": " << to_hex(body));
        (change ? mutants : originals).count(made);
        other = original;
    }
    check_verdicts(originals, mutants, request_count);
    return mutants;
}

/// The generator, the tree and its bytes agree.
void check_trees(random_source random, message_kind kind, const auto& generate) {
    for (int i = 0; i < 2000; ++i) {
        const std::string body = generate(random);
        const auto tree = parse_tree(body, kind);
        REQUIRE(tree.has_value());
        REQUIRE((to_bytes(*tree) == body));
    }
}

/// @return how many files of tests/fuzz/corpus/FOLDER hold the property.
int check_corpus(const std::string& folder, const auto& check) {
    int files = 0;
    for (const auto& file : std::filesystem::directory_iterator{source_tree() / "tests/fuzz/corpus" / folder}) {
        INFO(file.path());
        CHECK(check(read_file(file.path())).fault.empty());
        ++files;
    }
    return files;
}

}  // namespace seriesgate::testing
