#include "top/options.hpp"

#include <utility>

#include "config/config_error.hpp"
#include "config/units.hpp"

namespace seriesgate::top {
namespace {

constexpr std::chrono::milliseconds interval_min{100};
constexpr std::chrono::milliseconds interval_max = std::chrono::hours{1};

subcommand description() {
    return {.name = "top",
            .purpose =
                "What a running gate says, live in a terminal: windows, findings, who has the most series, "
                "budgets, refused series and the upstream.",
            .footer =
                "Without a terminal, or with --once, it prints all of it once. The keys: press ? while it runs.\n"
                "Exit status 1: the gate could not be asked.",
            .flags = {{"--url", "URL", "of the gate, where it answers people (default http://127.0.0.1:9201)"},
                      {"--interval", "TIME", "between two questions (default 2s)"},
                      {"--once", "", "print the figures once, as plain text, and exit"}},
            .access = {.url = "http://127.0.0.1:9201", .agent = "seriesgate-top"}};
}

std::string read_interval(const std::string& text, options& into) {
    const auto read = parse_duration(text);
    if (!read || *read < interval_min || *read > interval_max)
        return "--interval: " + in_quotes(text) + " is not a time from 100ms to 1h, such as 2s";
    into.interval = *read;
    return "";
}

std::string take_values(const subcommand_line& line, options& asked) {
    if (const auto url = line.values.find("--url"); url != line.values.end()) asked.url = url->second;
    asked.once = line.values.contains("--once");
    if (auto wrong = parse_gate_url(asked.url, asked.at); !wrong.empty()) return "--url: " + wrong;
    const auto interval = line.values.find("--interval");
    return interval == line.values.end() ? "" : read_interval(interval->second, asked);
}

}  // namespace

command_line parse_command_line(int argc, const char* const* argv) {
    subcommand_line line = parse_subcommand(description(), argc, argv);
    command_line result{.error = std::move(line.error), .print = std::move(line.print), .asked = {}};
    if (!result.error.empty() || !result.print.empty()) return result;
    static_cast<client_options&>(result.asked) = std::move(line.access);
    result.error = take_values(line, result.asked);
    return result;
}

}  // namespace seriesgate::top
