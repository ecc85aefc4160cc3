#include "base/metrics.hpp"

#include <cstdio>
#include <ctime>
#include <thread>

#include "support/catch.hpp"

using namespace seriesgate;

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
    CHECK(out.take() ==
          "# HELP process_cpu_seconds_total Total user and system CPU time spent in seconds.\n"
          "# TYPE process_cpu_seconds_total counter\n"
          "process_cpu_seconds_total 1.25\n"
          "# HELP process_open_fds Number of open file descriptors.\n"
          "# TYPE process_open_fds gauge\n"
          "process_open_fds 12\n"
          "# HELP process_max_fds Maximum number of open file descriptors.\n"
          "# TYPE process_max_fds gauge\n"
          "process_max_fds 1048576\n"
          "# HELP process_virtual_memory_bytes Virtual memory size in bytes.\n"
          "# TYPE process_virtual_memory_bytes gauge\n"
          "process_virtual_memory_bytes 104857600\n"
          "# HELP process_resident_memory_bytes Resident memory size in bytes.\n"
          "# TYPE process_resident_memory_bytes gauge\n"
          "process_resident_memory_bytes 20971520\n"
          "# HELP process_start_time_seconds Start time of the process since unix epoch in seconds.\n"
          "# TYPE process_start_time_seconds gauge\n"
          "process_start_time_seconds 1767225600.5\n"
          "# HELP process_threads Number of OS threads in the process.\n"
          "# TYPE process_threads gauge\n"
          "process_threads 5\n");
}
