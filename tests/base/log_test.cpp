#include "base/log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <limits>

#include "support/captured_log.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using seriesgate::testing::captured_log;

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

std::string describe(std::uint64_t lines) {
    return "lost " + std::to_string(lines) + "\n";
}

constexpr auto first_event = std::chrono::steady_clock::time_point{} + 1h;

/// A pipe whose reader reads when it is told to.
struct slow_reader {
    std::array<int, 2> ends{};

    slow_reader() { REQUIRE(::pipe(ends.data()) == 0); }
    slow_reader(const slow_reader&) = delete;
    slow_reader& operator=(const slow_reader&) = delete;
    ~slow_reader() {
        close_reading();
        ::close(ends[1]);
    }
    void close_reading() {
        if (ends[0] >= 0) ::close(ends[0]);
        ends[0] = -1;
    }
    /// Until so many bytes have come.
    [[nodiscard]] std::string read(std::size_t bytes) const {
        std::string all(bytes, '\0');
        for (std::size_t done = 0; done < bytes;) {
            const auto some = ::read(ends[0], all.data() + done, bytes - done);
            REQUIRE(some > 0);
            done += static_cast<std::size_t>(some);
        }
        return all;
    }
};

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

TEST_CASE("lines are written whole and in order") {
    slow_reader reader;
    log::line_writer writer{reader.ends[1], describe};
    std::string all;
    for (int i = 0; i < 1000; ++i) {
        const std::string line = std::to_string(i) + std::string(static_cast<std::size_t>(i % 90), 'x') + "\n";
        all += line;
        writer.put(line);
    }
    all += std::string(20'000, 'y') + "\n";
    writer.put(std::string(20'000, 'y') + "\n");
    CHECK(reader.read(all.size()) == all);
    writer.flush(10s);
    CHECK(writer.lost() == 0);
}

TEST_CASE("nobody waits for who reads: what is too much is lost, counted and told of") {
    slow_reader reader;
    log::line_writer writer{reader.ends[1], describe};
    const std::string line = std::string(1023, 'x') + "\n";
    constexpr std::size_t fit = log::line_writer::queued_bytes_max / 1024;
    const auto began = std::chrono::steady_clock::now();
    std::size_t put = 0;
    while (writer.lost() < 5) {
        writer.put(line);
        ++put;
    }
    writer.flush(1ms);
    CHECK(std::chrono::steady_clock::now() - began < 5s);
    CHECK(put >= fit + 5);            // the queue,
    CHECK(put <= fit + 5 + 64 + 64);  // and what a pipe takes
    std::string all = reader.read((put - writer.lost()) * line.size());
    CHECK(all.find("lost") == std::string::npos);
    writer.put("next\n");
    CHECK(reader.read(12) == "lost 5\nnext\n");
    writer.put("and next\n");
    CHECK(reader.read(9) == "and next\n");
}

TEST_CASE("a reader that never reads does not keep the writer from ending") {
    slow_reader reader;
    const auto began = std::chrono::steady_clock::now();
    {
        log::line_writer writer{reader.ends[1], describe};
        for (int i = 0; i < 100; ++i) writer.put(std::string(4096, 'x'));
    }
    CHECK(std::chrono::steady_clock::now() - began < 5s);
}

TEST_CASE("a reader that has gone costs lines and nothing else") {
    slow_reader reader;
    log::line_writer writer{reader.ends[1], describe};
    reader.close_reading();
    for (std::uint64_t i = 1; i <= 3; ++i) {
        writer.put("line\n");
        writer.flush(10s);
        CHECK(writer.lost() == i);  // and the lines that tell of lost ones are not counted
    }
}

TEST_CASE("a full disk costs the lines that do not fit") {
    const int full = ::open("/dev/full", O_WRONLY);
    if (full < 0) return;
    {
        log::line_writer writer{full, describe};
        writer.put("line\n");
        writer.flush(10s);
        CHECK(writer.lost() == 1);
    }
    ::close(full);
}

TEST_CASE("an event is written as one line, from the level upwards that is set") {
    const captured_log said;
    log::debug("not said");
    log::info("said", {{"n", 1}});
    log::set_up(log::format::logfmt, log::level::error);
    log::warn("not said");
    log::error("said", {{"n", 2}});
    log::set_up(log::format::logfmt, log::level::debug);
    log::debug("said", {{"n", 3}});
    log::set_up(log::format::logfmt, log::level::info);
    CHECK(said.text() == "level=info msg=said n=1\nlevel=error msg=said n=2\nlevel=debug msg=said n=3\n");
}

TEST_CASE("the form changes from one line to the next") {
    const captured_log said;
    log::set_up(log::format::json, log::level::info);
    log::info("level=one");
    log::set_up(log::format::logfmt, log::level::info);
    log::info("two");
    CHECK(said.text() == "level=one\"}\nlevel=info msg=two\n");
}

TEST_CASE("a placeholder of the library's in a value is no more than its characters") {
    const captured_log said;
    log::info("x", {{"v", "{} {0} %v"}});
    CHECK(said.text() == "level=info msg=x v=\"{} {0} %v\"\n");
}

TEST_CASE("events are told at once, then at most every ten seconds or what its maker wants, none forgotten") {
    throttled_log log;
    CHECK(log.count(5, first_event) == 5);
    CHECK_FALSE(log.count(7, first_event + 1s));
    CHECK_FALSE(log.count(1, first_event + 10s - 1ns));
    CHECK(log.count(2, first_event + 10s) == 10);
    CHECK_FALSE(log.count(1, first_event + 11s));
    throttled_log slow{1min};
    CHECK(slow.count(1, first_event) == 1);
    CHECK_FALSE(slow.count(1, first_event + 60s - 1ns));
    CHECK(slow.count(1, first_event + 60s) == 2);
}

TEST_CASE("the last events are told without a further one, when it is time, and once") {
    throttled_log log{1min};
    CHECK_FALSE(log.rest(first_event));
    CHECK(log.count(1, first_event) == 1);
    CHECK_FALSE(log.rest(first_event + 2min));
    CHECK(log.count(66, first_event + 2min) == 66);
    CHECK_FALSE(log.count(3, first_event + 2min + 1s));
    CHECK_FALSE(log.rest(first_event + 4min - 1ns));
    CHECK(log.rest(first_event + 4min) == 3);
    CHECK_FALSE(log.rest(first_event + 9min));
}

TEST_CASE("events that go on, however slowly, have lines of their own") {
    for (const auto gap : {3s, 7s, 10s, 11s, 25s}) {
        throttled_log log;
        std::uint64_t told = 0;
        std::uint64_t events = 0;
        for (auto now = first_event; now < first_event + 10min; now += 1s) {
            if ((now - first_event) % gap == 0s) {
                ++events;
                told += log.count(1, now).value_or(0);
            }
            CHECK_FALSE(log.rest(now));
        }
        CHECK(told >= events - 3);
    }
}
