#include "base/log.hpp"

#include <limits>

#include "support/catch.hpp"

using namespace seriesgate;
using namespace std::chrono_literals;

namespace {

const log::time_point moment{std::chrono::sys_days{std::chrono::year{2026} / 1 / 2} + 3h + 4min + 5s + 6ms};

std::string logfmt(std::span<const log::field> fields, std::string_view message = "event") {
    const std::string line = log::line_of(log::format::logfmt, log::level::info, moment, message, fields);
    const std::string head = "ts=2026-01-02T03:04:05.006Z level=info msg=";
    REQUIRE(line.starts_with(head));
    return line.substr(head.size());
}

std::string json(std::span<const log::field> fields) {
    const std::string line = log::line_of(log::format::json, log::level::error, moment, "event", fields);
    const std::string head = R"({"ts":"2026-01-02T03:04:05.006Z","level":"error","msg":"event")";
    REQUIRE(line.starts_with(head));
    return line.substr(head.size());
}

}  // namespace

TEST_CASE("an event is one line with the keys that Prometheus has, then its own") {
    const std::array fields{log::field{"tenant", "shop"}, log::field{"samples", 7}, log::field{"new", true},
                            log::field{"rate", 0.5}, log::field{"err", "no room"}};
    CHECK(logfmt(fields) == "event tenant=shop samples=7 new=true rate=0.5 err=\"no room\"");
    CHECK(json(fields) == R"(,"tenant":"shop","samples":7,"new":true,"rate":0.5,"err":"no room"})");
    CHECK(logfmt({}, "two words") == "\"two words\"");
    CHECK(json({}) == "}");
}

TEST_CASE("a moment before 1970 and a part of a millisecond have a timestamp") {
    CHECK(log::line_of(log::format::logfmt, log::level::warn, log::time_point{-1us}, "e", {}) ==
          "ts=1969-12-31T23:59:59.999Z level=warn msg=e");
}

TEST_CASE("the widest numbers are written whole") {
    const std::array fields{log::field{"most", std::numeric_limits<std::uint64_t>::max()},
                            log::field{"least", std::numeric_limits<std::int64_t>::min()},
                            log::field{"small", std::int8_t{-1}}};
    CHECK(logfmt(fields) == "event most=18446744073709551615 least=-9223372036854775808 small=-1");
}

TEST_CASE("JSON has no number for what is not finite") {
    const std::array fields{log::field{"rate", std::numeric_limits<double>::infinity()}};
    CHECK(json(fields) == R"(,"rate":"inf"})");
}

TEST_CASE("no value breaks out of its line or its quotes") {
    const auto value = [](std::string_view text) {
        const std::array fields{log::field{"v", text}};
        const std::string in_json = json(fields);
        const std::string in_logfmt = logfmt(fields);
        REQUIRE(in_json.starts_with(R"(,"v":)"));
        const std::string shown = in_json.substr(5, in_json.size() - 6);
        if (in_logfmt.ends_with('"')) CHECK(in_logfmt == "event v=" + shown);  // quoted alike
        return shown;
    };
    CHECK(value("") == R"("")");
    CHECK(value("a=b") == R"("a=b")");
    CHECK(value(R"(a" level=error msg=")") == R"("a\" level=error msg=\"")");
    CHECK(value("one\ntwo\r\tthree") == R"("one\ntwo\r\tthree")");
    CHECK(value(std::string_view{"nul\0", 4}) == R"("nul\u0000")");
    CHECK(value("\x1b[31m\x7f") == R"("\u001b[31m\u007f")");
    CHECK(value("csi \u009b1m") == R"("csi \u009b1m")");
    CHECK(value("\u202etxt\u2066\u200f\u061c") == R"("\u202etxt\u2066\u200f\u061c")");
    CHECK(value("lines \u2028 \u2029") == R"("lines \u2028 \u2029")");
    CHECK(value("caf\u00e9 \U0001f600") == "\"caf\u00e9 \U0001f600\"");
    CHECK(value("\xff\xfe z") == R"("\\xff\\xfe z")");
    CHECK(value("a\\b") == R"("a\\b")");
}
