#include "config/units.hpp"

#include <limits>

#include "support/catch.hpp"

using namespace seriesgate;

TEST_CASE("durations are read in their units") {
    CHECK(parse_duration("500ms") == 500ms);
    CHECK(parse_duration("25s") == 25s);
    CHECK(parse_duration("10m") == 10min);
    CHECK(parse_duration("1h") == 1h);
    CHECK(parse_duration("2d") == 48h);
    CHECK(parse_duration("0s") == 0s);
    CHECK(parse_duration("0") == 0s);
}

TEST_CASE("durations combine from large to small, each unit once") {
    CHECK(parse_duration("1h30m") == 90min);
    CHECK(parse_duration("1d2h3m4s5ms") == 26h + 3min + 4s + 5ms);
    CHECK(parse_duration("1s500ms") == 1500ms);
    CHECK(parse_duration("90m") == 90min);
    CHECK(parse_duration("9223372036854775807ms") == std::chrono::milliseconds::max());
}

TEST_CASE("what is no duration is not read") {
    const auto text =
        GENERATE(as<std::string_view>{}, "", " ", "25", "s", "ms", "-5s", "+5s", "1.5h", "25 s", " 25s", "25s ", "25S",
                 "1H", "25sec", "1h30", "1hh", "h1", "5us", "1w", "0x5s", "five seconds", "30m1h", "1h1h", "5ms1s",
                 // Beyond 64 bits.
                 "9223372036854775808ms", "9223372036854775s808ms", "99999999999999999999s", "9223372036854775807d");
    CAPTURE(text);
    CHECK_FALSE(parse_duration(text));
}

TEST_CASE("sizes are read in their units") {
    CHECK(parse_size("0") == 0u);
    CHECK(parse_size("4096") == 4096u);
    CHECK(parse_size("4096B") == 4096u);
    CHECK(parse_size("1KiB") == 1024u);
    CHECK(parse_size("32MiB") == 33'554'432u);
    CHECK(parse_size("2GiB") == 2'147'483'648u);
    CHECK(parse_size("3Ki") == 3'072u);
    CHECK(parse_size("32Mi") == 33'554'432u);
    CHECK(parse_size("2Gi") == 2'147'483'648u);
    CHECK(parse_size("1KB") == 1'000u);
    CHECK(parse_size("5MB") == 5'000'000u);
    CHECK(parse_size("1GB") == 1'000'000'000u);
    CHECK(parse_size("18446744073709551615") == std::numeric_limits<std::uint64_t>::max());
    CHECK(parse_size("17179869183GiB") == 17'179'869'183ull << 30);
}

TEST_CASE("what is no size is not read") {
    const auto text = GENERATE(as<std::string_view>{}, "", " ", "MiB", "-1", "+1", "1.5MiB", "32 MiB", "32mib", "32M",
                               "32mi", "1kb", "1TiB", " 1", "1 ", "1B2B", "0x10", "1e6",
                               // Beyond 64 bits.
                               "18446744073709551616", "17179869184GiB");
    CAPTURE(text);
    CHECK_FALSE(parse_size(text));
}

TEST_CASE("durations and sizes are written so that people like to read them") {
    CHECK(format_duration(0ms) == "0s");
    CHECK(format_duration(1ms) == "1ms");
    CHECK(format_duration(25s) == "25s");
    CHECK(format_duration(90min) == "1h30m");
    CHECK(format_duration(24h) == "1d");
    CHECK(format_size(0) == "0B");
    CHECK(format_size(1000) == "1000B");
    CHECK(format_size(1024) == "1KiB");
    CHECK(format_size(32u << 20) == "32MiB");
    CHECK(format_size(160u << 20) == "160MiB");
    CHECK(format_size(1u << 30) == "1GiB");
}

TEST_CASE("what was written reads back the same") {
    const auto number = GENERATE(as<std::uint64_t>{}, 0, 1, 999, 1000, 1023, 1024, 86'400'000, 86'400'001, 123'456'789,
                                 1ull << 40, std::numeric_limits<std::int64_t>::max());
    CAPTURE(number);
    CHECK(parse_size(format_size(number)) == number);
    const std::chrono::milliseconds duration{number};
    CHECK(parse_duration(format_duration(duration)) == duration);
}

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
