#include "base/metrics.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <vector>

namespace seriesgate {

void duration_histogram::observe(std::chrono::nanoseconds duration) noexcept {
    duration = std::max(duration, std::chrono::nanoseconds::zero());
    const auto bucket = std::ranges::lower_bound(bounds, duration, {}, &bucket_bound::upper) - bounds.begin();
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

enum class text_place { help, label_value };

void append_escaped(std::string& out, std::string_view text, text_place where) {
    for (const char c : text) {
        if (c == '\\') {
            out += "\\\\";
        } else if (c == '\n') {
            out += "\\n";
        } else if (c == '"' && where == text_place::label_value) {
            out += "\\\"";
        } else {
            out += c;
        }
    }
}

void append_number(std::string& out, std::integral auto value) {
    std::array<char, 24> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    out.append(digits.data(), end);
}

void append_number(std::string& out, double value) {
    if (!std::isfinite(value)) {
        out += std::isnan(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
        return;
    }
    // Writes 0.0001, where to_chars prefers 1e-04. Far from 1 plain digits would only be noise.
    const double size = std::abs(value);
    const bool plain = size == 0 || (size >= 1e-9 && size < 1e18);
    std::array<char, 64> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                   plain ? std::chars_format::fixed : std::chars_format::scientific)
                         .ptr;
    out.append(digits.data(), end);
}

void append_label(std::string& out, bool first, std::string_view name, std::string_view value) {
    out.append(first ? "{" : ",").append(name).append("=\"");
    append_escaped(out, value, text_place::label_value);
    out += '"';
}

template <typename Number>
void append_line(std::string& out, std::string_view name, std::string_view suffix, metric_labels labels,
                 std::string_view le, Number value) {
    out.append(name).append(suffix);
    for (const metric_label& label : labels) append_label(out, &label == labels.begin(), label.name, label.value);
    if (!le.empty()) append_label(out, labels.size() == 0, "le", le);
    if (labels.size() != 0 || !le.empty()) out += '}';
    out += ' ';
    append_number(out, value);
    out += '\n';
}

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

void exposition::family(std::string_view name, std::string_view help, metric_type type) {
    name_ = name;
    text_.append("# HELP ").append(name).append(" ");
    append_escaped(text_, help, text_place::help);
    text_.append("\n# TYPE ").append(name).append(" ");
    text_ += type_names[static_cast<std::size_t>(type)];
    text_ += '\n';
}

void exposition::append(metric_labels labels, std::uint64_t value) {
    append_line(text_, name_, "", labels, "", value);
}

void exposition::append(metric_labels labels, std::int64_t value) {
    append_line(text_, name_, "", labels, "", value);
}

void exposition::sample(metric_labels labels, double value) {
    append_line(text_, name_, "", labels, "", value);
}

void exposition::sample(metric_labels labels, const duration_histogram::snapshot& value) {
    for (std::size_t i = 0; i < duration_histogram::bounds.size(); ++i) {
        append_line(text_, name_, "_bucket", labels, duration_histogram::bounds[i].seconds, value.cumulative[i]);
    }
    append_line(text_, name_, "_bucket", labels, "+Inf", value.count);
    append_line(text_, name_, "_sum", labels, "", std::chrono::duration<double>(value.sum).count());
    append_line(text_, name_, "_count", labels, "", value.count);
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
