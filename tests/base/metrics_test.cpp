#include "base/metrics.hpp"

#include <atomic>
#include <cstdio>
#include <ctime>
#include <limits>
#include <thread>

#include "support/catch.hpp"

using namespace seriesgate;

namespace {

// The text of one family with one sample, without its two comment lines.
template <typename Number>
std::string line_of(metric_labels labels, Number value) {
    exposition out;
    out.family("x", "h", metric_type::gauge);
    out.sample(labels, value);
    return out.take().substr(std::string_view{"# HELP x h\n# TYPE x gauge\n"}.size());
}

enum class fruit : std::uint8_t { apple, pear, count_ };
std::string_view name_of(fruit kind) {
    return kind == fruit::apple ? "apple" : "pear";
}

}  // namespace

TEST_CASE("a counter adds up what several threads add") {
    counter requests;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (int n = 0; n < 10'000; ++n) requests.add(3);
        });
    }
    for (auto& thread : threads) thread.join();
    CHECK(requests.value() == 120'000);
}

TEST_CASE("a gauge goes up and down and below zero") {
    gauge connections;
    connections.add();
    connections.add(4);
    connections.sub(2);
    CHECK(connections.value() == 3);
    connections.sub(5);
    CHECK(connections.value() == -2);
    connections.set(9);
    CHECK(connections.value() == 9);
}

TEST_CASE("requests are counted by status code, and what is no status code is counted as other") {
    counter_by_status requests;
    requests[100].add();
    requests[204].add(2);
    requests[599].add(3);
    for (const unsigned strange : {0u, 99u, 600u, 4'000'000'000u}) requests[strange].add();
    CHECK(requests[100].value() == 1);
    CHECK(requests[204].value() == 2);
    CHECK(requests[599].value() == 3);
    CHECK(requests[200].value() == 0);
    CHECK(requests[counter_by_status::other].value() == 4);
    CHECK(requests.total() == 10);
}

TEST_CASE("a duration falls into the first bucket that holds it, bounds included") {
    duration_histogram histogram;
    histogram.observe(-5s);  // counts as zero
    histogram.observe(0ns);
    histogram.observe(500us);
    histogram.observe(500us + 1ns);
    histogram.observe(30s);
    histogram.observe(30s + 1ns);
    const auto read = histogram.read();
    CHECK(read.cumulative.front() == 3);
    CHECK(read.cumulative[1] == 4);
    CHECK(read.cumulative[13] == 4);
    CHECK(read.cumulative.back() == 5);
    CHECK(read.count == 6);
    CHECK(read.sum == 60s + 1ms + 2ns);
}

TEST_CASE("the bounds of the buckets grow") {
    const auto& bounds = duration_histogram::bounds;
    CHECK(std::ranges::adjacent_find(bounds, std::ranges::greater_equal{}) == bounds.end());
}

TEST_CASE("a histogram read while others observe never contradicts itself") {
    duration_histogram histogram;
    std::atomic<bool> stop{false};
    std::thread observer([&] {
        for (int i = 0; !stop; ++i) histogram.observe(std::chrono::milliseconds{i % 40'000});
    });
    bool consistent = true;
    for (int i = 0; i < 2'000; ++i) {
        const auto read = histogram.read();
        std::uint64_t before = 0;
        for (const auto bucket : read.cumulative) {
            consistent = consistent && bucket >= before;
            before = bucket;
        }
        consistent = consistent && read.count >= before;
    }
    stop = true;
    observer.join();
    CHECK(consistent);
}

TEST_CASE("a family is written with help, type and its samples") {
    exposition out;
    out.family("seriesgate_series_current", "Series admitted.", metric_type::gauge);
    out.sample({{"window", "hourly"}}, 7u);
    out.sample({{"window", "daily"}}, 31817u);
    out.family("a_total", "Other.", metric_type::counter);
    out.sample({}, 1u);
    CHECK(out.take() ==
          "# HELP seriesgate_series_current Series admitted.\n"
          "# TYPE seriesgate_series_current gauge\n"
          "seriesgate_series_current{window=\"hourly\"} 7\n"
          "seriesgate_series_current{window=\"daily\"} 31817\n"
          "# HELP a_total Other.\n"
          "# TYPE a_total counter\n"
          "a_total 1\n");
}

TEST_CASE("integers are written exactly, beyond what a double holds") {
    CHECK(line_of({}, 0) == "x 0\n");
    CHECK(line_of({}, -7) == "x -7\n");
    CHECK(line_of({}, 9'007'199'254'740'993ull) == "x 9007199254740993\n");
    CHECK(line_of({}, std::numeric_limits<std::uint64_t>::max()) == "x 18446744073709551615\n");
    CHECK(line_of({}, std::numeric_limits<std::int64_t>::min()) == "x -9223372036854775808\n");
}

TEST_CASE("doubles are written as the shortest decimal that reads back the same") {
    CHECK(line_of({}, 0.0) == "x 0\n");
    CHECK(line_of({}, 3.0) == "x 3\n");
    CHECK(line_of({}, 0.1) == "x 0.1\n");
    CHECK(line_of({}, 0.0001) == "x 0.0001\n");
    CHECK(line_of({}, -2.5) == "x -2.5\n");
    CHECK(line_of({}, 1795246742.73) == "x 1795246742.73\n");
    CHECK(line_of({}, 1e300) == "x 1e+300\n");
    CHECK(line_of({}, 5e-324) == "x 5e-324\n");
    CHECK(line_of({}, std::numeric_limits<double>::infinity()) == "x +Inf\n");
    CHECK(line_of({}, -std::numeric_limits<double>::infinity()) == "x -Inf\n");
    CHECK(line_of({}, std::numeric_limits<double>::quiet_NaN()) == "x NaN\n");
    for (const double value : {0.1 + 0.2, 1.0 / 3, 123456.789e-7, 4.9e17, 8.5e21}) {
        const std::string line = line_of({}, value);
        CHECK(std::stod(line.substr(2)) == value);
    }
}

TEST_CASE("label values and help are escaped so that they stay on their line") {
    CHECK(line_of({{"a", "quote \" backslash \\ newline \n end"}}, 1) ==
          "x{a=\"quote \\\" backslash \\\\ newline \\n end\"} 1\n");
    CHECK(line_of({{"a", ""}, {"b", "\xc3\xa4"}}, 1) == "x{a=\"\",b=\"\xc3\xa4\"} 1\n");
    exposition out;
    out.family("x", "back\\slash \"quoted\"\nline", metric_type::counter);
    CHECK(out.text() == "# HELP x back\\\\slash \"quoted\"\\nline\n# TYPE x counter\n");
}

TEST_CASE("a histogram is written with cumulative buckets, sum and count in seconds") {
    duration_histogram histogram;
    histogram.observe(3ms);
    histogram.observe(250ms);
    histogram.observe(40s);
    exposition out;
    out.family("d_seconds", "h", metric_type::histogram);
    out.sample({{"path", "/w"}}, histogram.read());
    const std::string at = "d_seconds_bucket{path=\"/w\",le=\"";
    std::string buckets;
    for (const char* bound : {"0.0005", "0.001", "0.0025"}) buckets += at + bound + "\"} 0\n";
    for (const char* bound : {"0.005", "0.01", "0.025", "0.05", "0.1"}) buckets += at + bound + "\"} 1\n";
    for (const char* bound : {"0.25", "0.5", "1", "2.5", "5", "10", "30"}) buckets += at + bound + "\"} 2\n";
    buckets += at + "+Inf\"} 3\n";
    CHECK(out.take() == "# HELP d_seconds h\n# TYPE d_seconds histogram\n" + buckets +
                            "d_seconds_sum{path=\"/w\"} 40.253\nd_seconds_count{path=\"/w\"} 3\n");
}

TEST_CASE("a family of one figure has its type and its value") {
    counter eaten;
    eaten.add(3);
    gauge held;
    held.sub(2);
    exposition out;
    write_counter(out, "eaten_total", "Eaten.", eaten);
    write_gauge(out, "held", "Held.", held);
    CHECK(out.take() ==
          "# HELP eaten_total Eaten.\n# TYPE eaten_total counter\neaten_total 3\n"
          "# HELP held Held.\n# TYPE held gauge\nheld -2\n");
}

TEST_CASE("a family by kind has a sample for each, zeroes included") {
    counter_by<fruit> eaten;
    eaten[fruit::pear].add(4);
    exposition out;
    write_counters(out, "eaten_total", "Eaten.", "kind", eaten);
    CHECK(out.take() ==
          "# HELP eaten_total Eaten.\n# TYPE eaten_total counter\n"
          "eaten_total{kind=\"apple\"} 0\neaten_total{kind=\"pear\"} 4\n");
}

TEST_CASE("a family by status has a sample for each code that was counted") {
    counter_by_status answers;
    answers[204].add(9);
    answers[503].add(1);
    answers[0].add(2);
    exposition out;
    write_status_counters(out, "answers_total", "Answers.", answers, {});
    CHECK(out.take() ==
          "# HELP answers_total Answers.\n# TYPE answers_total counter\n"
          "answers_total{code=\"204\"} 9\nanswers_total{code=\"503\"} 1\nanswers_total{code=\"other\"} 2\n");
}

TEST_CASE("the figures of this process are plausible") {
    const process_stats stats = read_process_stats();
    const auto now = static_cast<double>(std::time(nullptr));
    CHECK(stats.cpu_seconds >= 0);
    CHECK(stats.start_time_seconds > now - 24 * 60 * 60);
    CHECK(stats.start_time_seconds <= now + 2);
    CHECK(stats.resident_memory_bytes > 100'000);
    CHECK(stats.virtual_memory_bytes >= stats.resident_memory_bytes);
    CHECK(stats.max_fds >= stats.open_fds);
    CHECK(stats.threads >= 1);
}

TEST_CASE("an open file and a running thread are seen") {
    const process_stats before = read_process_stats();
    std::FILE* file = std::fopen("/dev/null", "r");
    REQUIRE(file != nullptr);
    process_stats during;
    std::thread reader([&] { during = read_process_stats(); });
    reader.join();
    std::fclose(file);
    CHECK(during.open_fds == before.open_fds + 1);
    CHECK(during.threads >= 2);
    CHECK(read_process_stats().open_fds == before.open_fds);
}

TEST_CASE("CPU time grows with work") {
    const double before = read_process_stats().cpu_seconds;
    const std::clock_t start = std::clock();
    while (std::clock() - start < CLOCKS_PER_SEC / 20) continue;
    CHECK(read_process_stats().cpu_seconds > before);
}

TEST_CASE("process metrics are written under their usual names") {
    exposition out;
    write(out, process_stats{.cpu_seconds = 1.25,
                             .start_time_seconds = 1767225600.5,
                             .resident_memory_bytes = 20971520,
                             .virtual_memory_bytes = 104857600,
                             .open_fds = 12,
                             .max_fds = 1048576,
                             .threads = 5});
    std::string page;
    for (const auto& [name, type, value, help] : std::vector<std::array<std::string, 4>>{
             {"cpu_seconds_total", "counter", "1.25", "Total user and system CPU time spent in seconds."},
             {"open_fds", "gauge", "12", "Number of open file descriptors."},
             {"max_fds", "gauge", "1048576", "Maximum number of open file descriptors."},
             {"virtual_memory_bytes", "gauge", "104857600", "Virtual memory size in bytes."},
             {"resident_memory_bytes", "gauge", "20971520", "Resident memory size in bytes."},
             {"start_time_seconds", "gauge", "1767225600.5", "Start time of the process since unix epoch in seconds."},
             {"threads", "gauge", "5", "Number of OS threads in the process."}})
        page += "# HELP process_" + name + " " + help + "\n# TYPE process_" + name + " " + type + "\nprocess_" + name +
                " " + value + "\n";
    CHECK(out.take() == page);
}
