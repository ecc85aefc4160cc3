#include "config/counts.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "support/catch.hpp"

using namespace seriesgate;

TEST_CASE("counts are read in the units that people write") {
    const auto [text, count] = GENERATE(
        table<std::string_view, std::uint64_t>({{"0", 0},
                                                {"1000000", 1'000'000},
                                                {"1_000_000", 1'000'000},
                                                {"12_000", 12'000},
                                                {"1M", 1'000'000},
                                                {"500k", 500'000},
                                                {"500K", 500'000},
                                                {"2G", 2'000'000'000},
                                                {"2.5M", 2'500'000},
                                                {"0.5k", 500},
                                                {"1.50k", 1'500},
                                                {"1e6", 1'000'000},
                                                {"1E6", 1'000'000},
                                                {"1e+6", 1'000'000},
                                                {"2.5e3", 2'500},
                                                {"1.234567e6", 1'234'567},
                                                {"0k", 0},
                                                {"18446744073709551615", std::numeric_limits<std::uint64_t>::max()}}));
    CAPTURE(text);
    CHECK(parse_count(text) == count);
}

TEST_CASE("a count beyond 64 bits is the largest there is, so that every bound finds it") {
    for (const std::string_view text :
         {"18446744073709551616", "99999999999999999999999", "18446744073710M", "1e20", "1e4294967295"}) {
        CAPTURE(text);
        CHECK(parse_count(text) == std::numeric_limits<std::uint64_t>::max());
    }
}

TEST_CASE("what can be read in two ways, or in none, is no count") {
    const auto text =
        GENERATE(as<std::string_view>{}, "", " ", "k", "M", "e6", ".5M", "5.M", "1.5", "1.0", "1.2345k", "010", "00",
                 "01M", "+5", "-5", "1,000", "1 000", "1.000", "10_00", "_100", "1_000_", "1__000", "1000_000", "1Mi",
                 "1m", "1MB", "1 M", "1M ", "1e", "1e-3", "1e6.5", "1ee6", "1kk", "1kM", "1e3k", "0x10", "nan", "inf");
    CAPTURE(text);
    CHECK_FALSE(parse_count(text));
}

TEST_CASE("the count that was probably meant is known") {
    const auto [text, meant] = GENERATE(table<std::string_view, std::string>({{"1,000,000", "1000000"},
                                                                              {"1,000", "1000"},
                                                                              {"1.000.000", "1000000"},
                                                                              {"1 000 000", "1000000"},
                                                                              {"1'000'000", "1000000"},
                                                                              {"1Mi", "1000000"},
                                                                              {"1m", "1000000"},
                                                                              {"2 million", "2000000"},
                                                                              {"1.5 Million", "1500000"},
                                                                              {"1B", "1000000000"},
                                                                              {"500 K", "500000"},
                                                                              {"+5", "5"},
                                                                              {"0100", "100"},
                                                                              {"5.0", "5"},
                                                                              {"100 series", "100"},
                                                                              {"1 mio", "1000000"}}));
    CAPTURE(text);
    CHECK(count_meant(text) == meant);
}

TEST_CASE("the count that was meant is not guessed") {
    const auto text = GENERATE(as<std::string_view>{}, "", "many", "1.5", "1.000", "1,5", "1,00", "1e-3", "-5", "0x10",
                               "1M5", "1.2.3", "k", "1.5 series");
    CAPTURE(text);
    CHECK(count_meant(text).empty());
}
