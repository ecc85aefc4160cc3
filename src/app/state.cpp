#include "app/state.hpp"

#include <exception>

#include "limit/figures.hpp"
#include "limit/limiter.hpp"
#include "log/log.hpp"
#include "series/fingerprint.hpp"
#include "state/secret_file.hpp"
#include "system/clock.hpp"

namespace seriesgate {

installation::installation(const config& settings) {
    if (!settings.state.dir.empty()) directory = std::make_unique<state_directory>(settings.state.dir);
    secret = !settings.secret_file.empty() ? read_secret(settings.secret_file)
             : directory                   ? kept_secret(*directory)
                                           : random_secret();
}

state_keeper::state_keeper(const config& settings, const installation& in, const hash_key& key, series_limiter& limiter,
                           state_metrics& metrics)
    : directory_(*in.directory),
      secret_to_keep_(settings.secret_file.empty() ? in.secret : std::string{}),
      file_(directory_, {.ignored_labels = ignored_labels_identity(settings.ignore_labels), .secret = key.identity()}),
      limiter_(limiter),
      metrics_(metrics) {
    load();
}

void state_keeper::load() {
    const auto loaded = file_.load(limiter_, wall_clock::now());
    if (loaded.result == snapshot_file::load_result::refused)
        log::error("state not loaded, all series are new", {{"err", loaded.reason}});
    if (loaded.result != snapshot_file::load_result::loaded) return;
    const limiter_figures figures = figures_of(limiter_);
    log::info("state loaded",
              {{"hourly_series", figures.hourly.series_current}, {"daily_series", figures.daily.series_current}});
}

bool state_keeper::save(const pause& between) noexcept {
    try {
        return try_save(between);
    } catch (const std::exception& error) {
        note_failure(error.what());
        return false;
    }
}

bool state_keeper::try_save(const pause& between) {
    if (directory_.hold() == state_directory::holding::renewed) {
        log::warn("state.dir was removed or its lock was: made anew, and the state with it");
        if (!secret_to_keep_.empty()) keep_secret(directory_, secret_to_keep_);
    }
    auto saved = file_.save(limiter_, between);
    // A window ended meanwhile; that does not happen again within the hour.
    if (saved.result == snapshot_file::save_result::window_ended) saved = file_.save(limiter_, between);
    if (saved.result == snapshot_file::save_result::saved) {
        metrics_.saves.add();
        metrics_.bytes.set(static_cast<std::int64_t>(saved.bytes));
        metrics_.save_seconds.set(std::chrono::system_clock::to_time_t(wall_clock::now()));
    }
    if (saved.result == snapshot_file::save_result::failed) note_failure(saved.reason);
    return saved.result == snapshot_file::save_result::saved;
}

void state_keeper::note_failure(std::string_view reason) {
    metrics_.save_failures.add();
    log::error("state not saved", {{"err", reason}});
}

bool state_keeper::save_if_changed(const pause& between) noexcept {
    const std::uint64_t revision = limiter_.revision();
    if (revision == saved_revision_ && directory_.is_held()) return false;
    const bool saved = save(between);
    if (saved) saved_revision_ = revision;
    return saved;
}

}  // namespace seriesgate
