#include "base/metrics.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "core/text.hpp"

namespace seriesgate {

void duration_histogram::observe(std::chrono::nanoseconds duration) noexcept {
    duration = std::max(duration, std::chrono::nanoseconds::zero());
    const auto bucket =
        std::ranges::lower_bound(bounds, std::chrono::duration<double>{duration}.count()) - bounds.begin();
    buckets_[static_cast<std::size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
    sum_nanoseconds_.fetch_add(static_cast<std::uint64_t>(duration.count()), std::memory_order_relaxed);
}

duration_histogram::snapshot duration_histogram::read() const noexcept {
    snapshot result{};
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < bounds.size(); ++i) {
        seen += buckets_[i].load(std::memory_order_relaxed);
        result.cumulative[i] = seen;
    }
    // Computed from the buckets, so that +Inf is never below the previous bucket.
    result.count = seen + buckets_.back().load(std::memory_order_relaxed);
    result.sum = std::chrono::nanoseconds{sum_nanoseconds_.load(std::memory_order_relaxed)};
    return result;
}

namespace {

/// By metric_type.
constexpr std::array<std::string_view, 3> type_names{"counter", "gauge", "histogram"};

/// What needs a backslash in help texts, and in values of labels.
constexpr std::string_view special_in_help = "\\\n", special_in_value = "\\\n\"";

void append_escaped(std::string& out, std::string_view text, std::string_view special) {
    for (const char c : text) {
        if (special.find(c) != std::string_view::npos) out += '\\';
        out += c == '\n' ? 'n' : c;
    }
}

void append_label(std::string& out, char before, std::string_view name, std::string_view value) {
    out.append(1, before).append(name).append("=\"");
    append_escaped(out, value, special_in_value);
    out += '"';
}

std::string number_text(double value) {
    if (!std::isfinite(value)) return std::isnan(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
    // Writes 0.0001, where to_chars prefers 1e-04. Far from 1 plain digits would only be noise.
    const double size = std::abs(value);
    const bool plain = size == 0 || (size >= 1e-9 && size < 1e18);
    std::array<char, 64> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                   plain ? std::chars_format::fixed : std::chars_format::scientific)
                         .ptr;
    return {digits.data(), end};
}

/// The fields of /proc/self/stat after the command, which may contain spaces and parentheses: from the third one on.
std::vector<std::string> fields_after_command() {
    std::ifstream file{"/proc/self/stat"};
    std::string line;
    std::getline(file, line, '\0');
    std::istringstream rest{line.substr(line.rfind(')') + 1)};
    return {std::istream_iterator<std::string>{rest}, {}};
}

std::uint64_t boot_time_seconds() {
    std::ifstream file{"/proc/stat"};
    constexpr std::string_view key = "btime ";
    for (std::string line; std::getline(file, line);)
        if (line.starts_with(key)) return whole_number<std::uint64_t>(line.substr(key.size())).value_or(0);
    return 0;
}

std::uint64_t count_open_fds() {
    std::error_code error;
    std::uint64_t count = 0;
    for (std::filesystem::directory_iterator entry("/proc/self/fd", error), end; !error && entry != end;
         entry.increment(error))
        ++count;
    return count > 0 ? count - 1 : 0;  // without the descriptor of the listing itself
}

}  // namespace

void exposition::family(std::string_view name, std::string_view help, metric_type type) {
    name_ = name;
    text_.append("# HELP ").append(name).append(" ");
    append_escaped(text_, help, special_in_help);
    text_.append("\n# TYPE ").append(name).append(" ").append(type_names[static_cast<std::size_t>(type)]).append("\n");
}

void exposition::append(std::string_view suffix, metric_labels labels, std::string_view le, std::string_view number) {
    text_.append(name_).append(suffix);
    char before = '{';
    for (const metric_label& label : labels) append_label(text_, std::exchange(before, ','), label.name, label.value);
    if (!le.empty()) append_label(text_, std::exchange(before, ','), "le", le);
    text_.append(before == ',' ? "} " : " ").append(number).append("\n");
}

void exposition::sample(metric_labels labels, double value) {
    append("", labels, "", number_text(value));
}

void exposition::sample(metric_labels labels, const duration_histogram::snapshot& value) {
    for (std::size_t i = 0; i < duration_histogram::bounds.size(); ++i)
        append("_bucket", labels, number_text(duration_histogram::bounds[i]), std::to_string(value.cumulative[i]));
    append("_bucket", labels, "+Inf", std::to_string(value.count));
    append("_sum", labels, "", number_text(std::chrono::duration<double>(value.sum).count()));
    append("_count", labels, "", std::to_string(value.count));
}

void write_counter(exposition& out, std::string_view name, std::string_view help, const counter& value) {
    out.family(name, help, metric_type::counter);
    out.sample({}, value.value());
}

void write_gauge(exposition& out, std::string_view name, std::string_view help, const gauge& value) {
    write_gauge(out, name, help, value.value());
}

void write_histogram(exposition& out, std::string_view name, std::string_view help, const duration_histogram& value) {
    out.family(name, help, metric_type::histogram);
    out.sample({}, value.read());
}

void write_status_counters(exposition& out, std::string_view name, std::string_view help,
                           const counter_by_status& values, std::span<const unsigned> always) {
    out.family(name, help, metric_type::counter);
    for (unsigned code = values.code_min; code <= values.code_max; ++code) {
        const auto value = values[code].value();
        const bool is_shown = value != 0 || std::find(always.begin(), always.end(), code) != always.end();
        if (is_shown) out.sample({{"code", std::to_string(code)}}, value);
    }
    if (const auto value = values[values.other].value(); value != 0) out.sample({{"code", "other"}}, value);
}

process_stats read_process_stats() {
    process_stats stats;
    const auto fields = fields_after_command();
    if (fields.size() > 24 - 3) {
        const auto field = [&](std::size_t number) {
            return whole_number<std::uint64_t>(fields[number - 3]).value_or(0);
        };
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
    out.family("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.", metric_type::counter);
    out.sample({}, stats.cpu_seconds);
    write_gauge(out, "process_open_fds", "Number of open file descriptors.", stats.open_fds);
    write_gauge(out, "process_max_fds", "Maximum number of open file descriptors.", stats.max_fds);
    write_gauge(out, "process_virtual_memory_bytes", "Virtual memory size in bytes.", stats.virtual_memory_bytes);
    write_gauge(out, "process_resident_memory_bytes", "Resident memory size in bytes.", stats.resident_memory_bytes);
    write_gauge(out, "process_start_time_seconds", "Start time of the process since unix epoch in seconds.",
                stats.start_time_seconds);
    write_gauge(out, "process_threads", "Number of OS threads in the process.", stats.threads);
}

}  // namespace seriesgate
