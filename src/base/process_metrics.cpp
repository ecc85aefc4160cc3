#include "base/process_metrics.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace seriesgate {
namespace {

std::string read_whole(const char* path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::uint64_t to_number(std::string_view text) noexcept {
    std::uint64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

// The fields of /proc/self/stat after the command name, which may contain spaces and parentheses. Field n of proc(5) is
// [n - 3] here: proc(5) counts from 1, and the command is field 2.
std::vector<std::string_view> fields_after_command(std::string_view stat) {
    std::vector<std::string_view> fields;
    const auto command_end = stat.rfind(')');
    if (command_end == std::string_view::npos) return fields;
    stat.remove_prefix(command_end + 1);
    while (!stat.empty()) {
        const auto length = stat.find(' ');
        if (length != 0) fields.push_back(stat.substr(0, length));
        if (length == std::string_view::npos) break;
        stat.remove_prefix(length + 1);
    }
    return fields;
}

std::uint64_t boot_time_seconds() {
    const std::string stat = read_whole("/proc/stat");
    constexpr std::string_view key = "\nbtime ";
    const auto found = stat.find(key);
    return found == std::string::npos ? 0 : to_number(std::string_view{stat}.substr(found + key.size()));
}

std::uint64_t count_open_fds() {
    std::error_code error;
    std::uint64_t count = 0;
    for (std::filesystem::directory_iterator entry("/proc/self/fd", error), end; !error && entry != end;
         entry.increment(error)) {
        ++count;
    }
    return count > 0 ? count - 1 : 0;  // without the descriptor of the listing itself
}

}  // namespace

process_stats read_process_stats() {
    process_stats stats;
    const std::string stat = read_whole("/proc/self/stat");
    const auto fields = fields_after_command(stat);
    if (fields.size() > 24 - 3) {
        const auto field = [&](std::size_t number) { return to_number(fields[number - 3]); };
        const auto ticks_per_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
        stats.cpu_seconds = static_cast<double>(field(14) + field(15)) / ticks_per_second;
        stats.threads = field(20);
        stats.start_time_seconds =
            static_cast<double>(boot_time_seconds()) + static_cast<double>(field(22)) / ticks_per_second;
        stats.virtual_memory_bytes = field(23);
        stats.resident_memory_bytes = field(24) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    }
    stats.open_fds = count_open_fds();
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) stats.max_fds = limit.rlim_cur;
    return stats;
}

void write(exposition& out, const process_stats& stats) {
    const auto gauge = [&out](std::string_view name, std::string_view help, auto value) {
        out.family(name, help, metric_type::gauge);
        out.sample({}, value);
    };
    out.family("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.", metric_type::counter);
    out.sample({}, stats.cpu_seconds);
    gauge("process_open_fds", "Number of open file descriptors.", stats.open_fds);
    gauge("process_max_fds", "Maximum number of open file descriptors.", stats.max_fds);
    gauge("process_virtual_memory_bytes", "Virtual memory size in bytes.", stats.virtual_memory_bytes);
    gauge("process_resident_memory_bytes", "Resident memory size in bytes.", stats.resident_memory_bytes);
    gauge("process_start_time_seconds", "Start time of the process since unix epoch in seconds.",
          stats.start_time_seconds);
    gauge("process_threads", "Number of OS threads in the process.", stats.threads);
}

}  // namespace seriesgate
