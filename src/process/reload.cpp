#include "process/reload.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "config/checks.hpp"
#include "config/effective.hpp"
#include "limit/limiter.hpp"
#include "net/async.hpp"
#include "process/startup_steps.hpp"

namespace seriesgate {
namespace {

constexpr auto reload_interval = std::chrono::seconds{1};
constexpr std::size_t logged_changes_max = 20;
constexpr std::size_t answered_mistakes_max = 1000;

/// Changes of a reread configuration: in effect now, and only after a restart.
struct reload_differences {
    std::vector<std::string> made;
    std::vector<std::string> at_restart;
};

/// At most `max` lines, with a last one for the number of others.
std::vector<std::string> bounded(std::span<const std::string> all, std::size_t max) {
    std::vector<std::string> shown{all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), max))};
    if (all.size() > max) shown.push_back(fmt::format("and {} more", all.size() - max));
    return shown;
}

std::string logged(std::span<const std::string> all) {
    return all.empty() ? "none" : fmt::format("{}", fmt::join(bounded(all, logged_changes_max), "; "));
}

std::string answer_of(const reload_differences& found) {
    std::string text = "configuration reloaded";
    if (found.made.empty()) text += ": nothing has changed";
    for (const std::string& each : found.made) text.append("\n").append(each);
    for (const std::string& each : found.at_restart) text.append("\na restart is needed for: ").append(each);
    return text;
}

std::string warnings_in(const load_outcome& loaded) {
    std::vector<std::string> lines;
    for (const config_error& each : loaded.warnings) lines.push_back(each.text());
    std::string text;
    for (const std::string& each : bounded(lines, answered_mistakes_max)) text.append("\n").append(each);
    return text;
}

page_text page_of(const config& in_force, std::span<const std::string> at_restart) {
    std::string text = "# The configuration in force, defaults included; <secret> stands for what is not shown.\n";
    for (const std::string& each : at_restart) text.append("# A restart is needed for: ").append(each).append("\n");
    return std::make_shared<const std::string>(text + effective_yaml(in_force));
}

/// Checks the new rules against what stays in force until a restart: ignoreLabels, and whether active series count.
std::vector<config_error> mistakes_until_restart(const limit_rules& wanted, const config& in_force) {
    auto mistakes = ignored_labels(wanted, in_force.ignore_labels);
    for (config_error& each : mistakes) each.message += "; a restart is needed for ignoreLabels first";
    const bool counts_active = in_force.series_set == set_kind::exact && !in_force.shared.has_store();
    const std::string active_key = active_maximum_key(wanted);
    if (!counts_active && !active_key.empty())
        mistakes.push_back({.where = {},
                            .key = active_key,
                            .message = "needs seriesSet: exact, without shared; a restart is needed for these first"});
    return mistakes;
}

}  // namespace

reloader::reloader(const config& running, std::function<load_outcome()> read_again, series_limiter& limiter,
                   web_access& web, reload_metrics& metrics, config_page& page)
    : in_force_(running),
      read_again_(std::move(read_again)),
      limiter_(limiter),
      web_(web),
      metrics_(metrics),
      page_(page) {
    *page_.lock() = page_of(in_force_, {});
    note_success();  // the start counts as a success
}

void reloader::note_success() {
    metrics_.successful.set(1);
    metrics_.success_seconds.set(std::chrono::system_clock::to_time_t(wall_clock::now()));
}

net::awaitable<void> reloader::run(reload_queue& asked, std::function<void()> begins, std::function<void()> ends) {
    async_timer rest{co_await net::this_coro::executor};
    for (;;) {
        const auto order = co_await asked.take();
        rest.expires_after(reload_interval);
        if (begins) begins();
        const reload_outcome outcome = reload();
        if (ends) ends();
        order.give(outcome);
        co_await rest.async_wait(no_throw);
    }
}

reload_outcome reloader::refuse(const std::vector<config_error>& errors) {
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

reload_outcome reloader::reload() try {
    metrics_.reads.add();
    load_outcome loaded = read_again_();
    if (!loaded.ok()) return refuse(loaded.errors);
    if (const auto mistakes = mistakes_until_restart(loaded.value.rules, in_force_); !mistakes.empty())
        return refuse(mistakes);
    // A different file takes effect only at a restart.
    const bool is_same_file = loaded.value.web_config_file == in_force_.web_config_file;
    if (is_same_file)
        if (const auto mistakes = web_.mistakes_in(loaded.value.web); !mistakes.empty()) return refuse(mistakes);
    // Everything that can fail comes first.
    reload_differences found{.made = changes(in_force_, loaded.value, key_effect::at_reload),
                             .at_restart = changes(in_force_, loaded.value, key_effect::at_restart)};
    if (is_same_file)
        for (const std::string& each : web_.differences_to(loaded.value.web))
            (each == web_tls_key ? found.at_restart : found.made).push_back("web.config.file: " + each);
    reload_outcome outcome{.ok = true, .text = answer_of(found) + warnings_in(loaded)};
    config next = in_force_;
    next.rules = std::move(loaded.value.rules);
    next.log = loaded.value.log;
    page_text page = page_of(next, found.at_restart);
    const std::string changes_made = logged(found.made), restart_needed = logged(found.at_restart);

    const auto take_limits = [&] { limiter_.reconfigure(limiter_rules(next)); };
    is_same_file ? web_.take_over(loaded.value.web, take_limits) : take_limits();
    log::set_up(next.log.format, next.log.level);
    in_force_ = std::move(next);
    std::swap(*page_.lock(), page);  // the old text is freed outside the lock
    log_warnings(loaded);
    note_success();
    log::info("configuration reloaded", {{"changes", changes_made}, {"restart_needed", restart_needed}});
    return outcome;
} catch (const std::exception& error) {  // out of memory; the thread goes on
    return refuse({{.where = {}, .key = {}, .message = error.what()}});
}

}  // namespace seriesgate
