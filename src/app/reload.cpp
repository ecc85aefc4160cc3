#include "app/reload.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <string>
#include <vector>

#include "app/warnings.hpp"
#include "config/keys.hpp"
#include "limit/limiter.hpp"
#include "log/log.hpp"

namespace seriesgate {
namespace {

constexpr auto reload_interval = std::chrono::seconds{1};
/// Of one file; the answer to POST /-/reload has all.
constexpr std::size_t logged_mistakes_max = 10;

}  // namespace

reloader::reloader(const config& running, std::function<load_outcome()> read_again, series_limiter& limiter,
                   reload_metrics& metrics)
    : running_(running), read_again_(std::move(read_again)), limiter_(limiter), metrics_(metrics) {
    note_success();  // of the start
}

void reloader::note_success() {
    metrics_.successful.set(1);
    metrics_.success_seconds.set(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now()));
}

void reloader::run(const std::stop_token& stop, reload_desk& asked) {
    while (const auto order = asked.take(stop)) {
        const auto began = std::chrono::steady_clock::now();
        order->give(reload());
        asked.rest(stop, began + reload_interval);
    }
}

reload_outcome reloader::tell_mistakes(const std::vector<config_error>& errors) {
    metrics_.successful.set(0);
    std::vector<std::string> lines;
    for (const config_error& error : errors) lines.push_back(error.text());
    for (std::size_t i = 0; i < std::min(lines.size(), logged_mistakes_max); ++i)
        log::error("configuration not reloaded", {{"err", lines[i]}});
    if (lines.size() > logged_mistakes_max)
        log::error("configuration not reloaded, --check-config prints all mistakes",
                   {{"more_mistakes", lines.size() - logged_mistakes_max}});
    return {.ok = false, .text = fmt::format("{}", fmt::join(lines, "\n"))};
}

reload_outcome reloader::reload() {
    metrics_.reads.add();
    try {
        return take_over();
    } catch (const std::exception& error) {  // out of memory; the thread goes on
        return tell_mistakes({{.where = {}, .key = {}, .message = error.what()}});
    }
}

reload_outcome reloader::take_over() {
    const load_outcome loaded = read_again_();
    if (!loaded.ok()) return tell_mistakes(loaded.errors);
    limiter_.reconfigure(loaded.value.rules);
    log::set_up(loaded.value.log.format, loaded.value.log.level);
    log_warnings(loaded);
    note_success();
    std::string text = "configuration reloaded";
    if (const auto keys = keys_that_need_restart(running_, loaded.value); !keys.empty())
        text += fmt::format("; a restart is needed for: {}", fmt::join(keys, ", "));
    log::info(text);
    return {.ok = true, .text = text};
}

}  // namespace seriesgate
