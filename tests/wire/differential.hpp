/// What the differential tests of both versions of remote write count and show.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>

#include "support/catch.hpp"
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

    void count(const auto& check) {
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

inline std::string to_hex(bytes_view bytes) {
    std::string out;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        out += "0123456789abcdef"[byte >> 4];
        out += "0123456789abcdef"[byte & 15];
    }
    return out;
}

/// @return how many files of tests/fuzz/corpus/FOLDER hold the property.
int check_corpus(const std::string& folder, const auto& check) {
    int files = 0;
    for (const auto& file : std::filesystem::directory_iterator{source_tree() / "tests/fuzz/corpus" / folder}) {
        std::ifstream in{file.path(), std::ios::binary};
        const std::string body{std::istreambuf_iterator<char>{in}, {}};
        INFO(file.path());
        CHECK(check(body).fault.empty());
        ++files;
    }
    return files;
}

}  // namespace seriesgate::testing
