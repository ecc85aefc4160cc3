#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <initializer_list>

#include "base/log.hpp"
#include "config/command_line.hpp"
#include "core/bytes.hpp"
#include "core/text.hpp"
#include "limit/figures.hpp"
#include "process/health_check.hpp"
#include "process/process.hpp"
#include "process/startup_steps.hpp"
#include "process/takeover_protocol.hpp"
#include "suggest/run.hpp"
#include "top/run.hpp"

namespace {

/// Exit statuses; 0 is a regular end.
constexpr int wrong_configuration = 1;
constexpr int could_not_serve = 2;

/// How long the end waits for the last log lines to be written.
constexpr std::chrono::seconds last_lines_limit{1};

/// @param how SIG_BLOCK or SIG_UNBLOCK, for this thread and those that it starts.
void mask_signals(int how, std::initializer_list<int> signals) {
    sigset_t set;
    ::sigemptyset(&set);
    for (const int each : signals) ::sigaddset(&set, each);
    ::pthread_sigmask(how, &set, nullptr);
}

/// Blocks the gate's signals at the end of its scope, when the handlers go. Everything is saved by then, and another
/// SIGTERM must not make the exit a failure. SIGQUIT and SIGKILL still end the process.
struct undisturbed_end {
    ~undisturbed_end() { mask_signals(SIG_BLOCK, {SIGTERM, SIGINT, SIGHUP}); }
};

/// A line on stderr. If that cannot be written, on a full disk, the exit status says enough.
void complain(std::string line) {
    line += '\n';
    std::fwrite(line.data(), 1, line.size(), stderr);
}

int fail(const std::string& line) {
    complain("seriesgate: " + line);
    return wrong_configuration;
}

int serve(const seriesgate::load_outcome& loaded, const seriesgate::command_line& asked) try {
    const seriesgate::config& settings = loaded.value;
    seriesgate::log::set_up(settings.log.format, settings.log.level);
    seriesgate::log_warnings(loaded);
    // Returns memory of large requests to the system. By default glibc adapts the threshold to freed blocks, up to
    // 32 MiB, and keeps them in one arena per thread.
    mallopt(M_MMAP_THRESHOLD, static_cast<int>(seriesgate::kept_bytes_max));
    // The kernel drops a signal to process 1 that has no handler. Until the gate has its own, this one ends it at once.
    if (::getpid() == 1)
        for (const int each : {SIGTERM, SIGINT}) std::signal(each, [](int) { std::_Exit(0); });
    std::signal(SIGXFSZ, SIG_IGN);  // a limit of file sizes (ulimit -f) makes a write fail, like a full disk
    {
        seriesgate::process gate{settings, asked, [&asked] { return seriesgate::read_settings(asked, true); }};
        const undisturbed_end end;
        mask_signals(SIG_UNBLOCK, {SIGHUP});
        gate.run();
    }
    seriesgate::log::flush(last_lines_limit);
    return 0;
} catch (const std::exception& error) {
    seriesgate::log::error("cannot serve", {{"err", error.what()}});
    seriesgate::log::flush(last_lines_limit);
    return could_not_serve;
}

template <class Options>
int run_subcommand(const std::string& name, const seriesgate::top::parsed_subcommand<Options>& parsed) {
    if (!parsed.error.empty()) return fail(name + ": " + parsed.error);
    if (parsed.print.empty()) return run(parsed.asked);
    fmt::print("{}", parsed.print);
    return 0;
}

int check_health(const std::string& url) {
    const std::string fault = seriesgate::fault_of_health(url);
    return fault.empty() ? 0 : fail("--health-check: " + fault);
}

/// For example `memory for known series: about 54 MB at the global limits (1,000,000 in an hour, 2,000,000 in a day)`.
std::string memory_text(const seriesgate::config& settings) {
    using namespace seriesgate;
    const memory_estimate of = estimate_memory(settings.rules, settings.series_set);
    if (!of.at_limits)
        return fmt::format("memory for known series: {} to {} bytes each, no enforced global limit bounds their number",
                           of.series_bytes_min, of.series_bytes_max);
    constexpr std::uint64_t mb = 1'000'000;
    return fmt::format("memory for known series: about {} MB at the global limits ({} in an hour, {} in a day)",
                       grouped((of.at_limits->bytes + mb - 1) / mb), grouped(of.at_limits->hour_series),
                       grouped(of.at_limits->day_series));
}

int start(int argc, const char* const* argv) {
    using namespace seriesgate;
    if (top::is_subcommand("top", argc, argv)) return run_subcommand("top", top::parse_command_line(argc, argv));
    if (top::is_subcommand("suggest", argc, argv))
        return run_subcommand("suggest", from_store::parse_command_line(argc, argv));
    const command_line asked = parse_command_line(argc, argv);
    if (!asked.error.empty()) return fail(asked.error);
    if (!asked.print.empty()) {
        fmt::print("{}", asked.print);
        return 0;
    }
    if (asked.health_check) return check_health(*asked.health_check);
    // A reload that is asked for from here on waits until the gate can make it. By default it would end the process.
    mask_signals(SIG_BLOCK, {SIGHUP});
    const load_outcome loaded = read_settings(asked, false);
    for (const config_error& error : loaded.errors) complain(error.text());
    if (!loaded.ok()) return wrong_configuration;
    if (asked.check_config) {
        for (const config_error& doubt : loaded.warnings) complain(doubt.text());
        fmt::print("{}: ok\n{}\n", asked.config_file.value_or("command line"), memory_text(loaded.value));
        return 0;
    }
    if (asked.takes_over && takeover_path(loaded.value).empty())
        return fail("--takeover: state.dir or server.takeoverSocket has to say where the gate that runs can be met");
    return serve(loaded, asked);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return start(argc, argv);
    } catch (const std::exception& error) {
        return fail(error.what());
    }
}
