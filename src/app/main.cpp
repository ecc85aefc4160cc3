#include <fmt/format.h>
#include <malloc.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <exception>

#include "app/app.hpp"
#include "config/command_line.hpp"
#include "core/kept_memory.hpp"

namespace {

/// Logs go to stderr, so that stdout holds answers only: --version, --help, --check-config.
void log_to_stderr() {
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("", std::make_shared<spdlog::sinks::stderr_sink_mt>()));
    spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);
}

/// What requests give back goes back to the system. Left to itself, glibc takes the size of what was freed last, up to
/// 32 MiB, for one that is worth to be kept, in an arena for each thread.
void return_large_memory() {
    mallopt(M_MMAP_THRESHOLD, static_cast<int>(seriesgate::kept_bytes_max));
}

int fail(const std::string& line) {
    fmt::print(stderr, "seriesgate: {}\n", line);
    return 1;
}

int start(int argc, const char* const* argv) {
    using namespace seriesgate;
    const command_line asked = parse_command_line(argc, argv);
    if (!asked.error.empty()) return fail(asked.error);
    if (!asked.print.empty()) {
        fmt::print("{}", asked.print);
        return 0;
    }
    const load_outcome loaded = load_config(asked.config_file, asked.flags);
    for (const config_error& error : loaded.errors) fmt::print(stderr, "{}\n", error.text());
    if (!loaded.ok()) return 1;
    if (asked.check_config) {
        fmt::print("{}: ok\n", asked.config_file.value_or("command line"));
        return 0;
    }
    log_to_stderr();
    return_large_memory();
    run(loaded.value, [&asked] { return load_config(asked.config_file, asked.flags); });
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return start(argc, argv);
    } catch (const std::exception& error) {
        return fail(error.what());
    }
}
