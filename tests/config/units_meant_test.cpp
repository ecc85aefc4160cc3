#include "config/units_meant.hpp"

#include <string>
#include <string_view>

#include "support/catch.hpp"

using namespace seriesgate;

TEST_CASE("the size that was probably meant is known") {
    const auto [text, meant] = GENERATE(table<std::string_view, std::string>({{"32mib", "32MiB"},
                                                                              {"32 MiB", "32MiB"},
                                                                              {"32mi", "32MiB"},
                                                                              {"32mb", "32MB"},
                                                                              {"1.5GiB", "1536MiB"},
                                                                              {"1.5MB", "1500KB"},
                                                                              {"4096 bytes", "4KiB"},
                                                                              {"32M", "32MiB or 32MB"},
                                                                              {"64k", "64KiB or 64KB"},
                                                                              {"1G", "1GiB or 1GB"},
                                                                              {"1TiB", "1024GiB"},
                                                                              {"", ""},
                                                                              {"MiB", ""},
                                                                              {"32 elephants", ""},
                                                                              {"32Mbit", ""},
                                                                              {"1MiB 2KiB", ""},
                                                                              {"0.3KiB", ""}}));
    CAPTURE(text);
    CHECK(size_meant(text) == meant);
}

TEST_CASE("the duration that was probably meant is known") {
    const auto [text, meant] = GENERATE(table<std::string_view, std::string>({{"25", "25s"},
                                                                              {"90min", "1h30m"},
                                                                              {"10 s", "10s"},
                                                                              {"1.5h", "1h30m"},
                                                                              {"1w", "7d"},
                                                                              {"25S", "25s"},
                                                                              {"30m1h", "1h30m"},
                                                                              {"5 minutes 3 seconds", "5m3s"},
                                                                              {"", ""},
                                                                              {"soon", ""},
                                                                              {"5us", ""},
                                                                              {"1y", ""},
                                                                              {"s", ""},
                                                                              {"99999999999999999999d", ""}}));
    CAPTURE(text);
    CHECK(duration_meant(text) == meant);
}

TEST_CASE("the share that was probably meant is known") {
    CHECK(rate_meant("1%") == "0.01");
    CHECK(rate_meant("0.01%") == "0.0001");
    CHECK(rate_meant("0,0001") == "0.0001");
    for (const std::string_view text : {"", "%", "1/100", "some", "1e999", "1,000.5"}) {
        CAPTURE(text);
        CHECK(rate_meant(text).empty());
    }
}

TEST_CASE("yes and no are known in other words") {
    for (const std::string_view text : {"yes", "On", "TRUE", "True", "y", "1"}) CHECK(flag_meant(text) == "true");
    for (const std::string_view text : {"no", "Off", "FALSE", "n", "0"}) CHECK(flag_meant(text) == "false");
    for (const std::string_view text : {"", "2", "maybe"}) CHECK(flag_meant(text).empty());
}
