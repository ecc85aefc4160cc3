#include "process/persistence.hpp"

#include <exception>
#include <utility>

#include "base/log.hpp"
#include "limit/figures.hpp"
#include "limit/limiter.hpp"
#include "net/async.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

/// Collects shorter work before a rest.
constexpr auto worked_min = 500us;

/// No decision depends on it: a crash may lose a minute.
constexpr auto cardinality_interval = std::chrono::minutes{1};

}  // namespace

background_pace::background_pace(std::stop_token stop) : stop_(std::move(stop)), rested_for_(thread_cpu_clock::now()) {}

void background_pace::rest() {
    const auto used = thread_cpu_clock::now();
    const auto worked = used - rested_for_;
    if (worked < worked_min) return;
    rested_for_ = used;
    std::unique_lock lock{idle_};
    wake_.wait_for(lock, stop_, rests_per_work * worked, [] { return false; });
}

void write(exposition& out, const state_metrics& metrics) {
    write_counter(out, "seriesgate_state_saves_total", "Snapshots written to state.dir.", metrics.saves);
    write_counter(out, "seriesgate_state_save_failures_total", "Snapshots that could not be written to state.dir.",
                  metrics.save_failures);
    write_gauge(out, "seriesgate_state_bytes", "Size of the last snapshot in state.dir.", metrics.bytes);
    write_gauge(out, "seriesgate_state_save_timestamp_seconds", "When the last snapshot was written, since 1970.",
                metrics.save_seconds);
    write_gauge(out, "seriesgate_state_last_save_successful",
                "Whether the last snapshot was written to state.dir. 1 as well before the first one, and without "
                "state.dir.",
                metrics.is_failing.value() == 0 ? 1 : 0);
}

instance_identity::instance_identity(const config& settings) {
    if (!settings.state.dir.empty()) directory = std::make_unique<state_directory>(settings.state.dir);
    secret = !settings.secret_file.empty() ? read_secret(settings.secret_file)
             : directory                   ? kept_secret(*directory)
                                           : random_secret();
}

state_keeper::state_keeper(const config& settings, const instance_identity& in, const hash_key& key,
                           series_limiter& limiter, state_metrics& metrics, time_point now)
    : directory_(*in.directory),
      secret_to_keep_(settings.secret_file.empty() ? in.secret : std::string{}),
      file_(directory_, {.ignored_labels = ignored_labels_identity(settings.ignore_labels), .secret = key.identity()}),
      limiter_(limiter),
      metrics_(metrics) {
    load(now);
}

void state_keeper::load(time_point now) {
    const auto loaded = file_.load(limiter_, now);
    if (loaded.result == state_file::load_result::refused)
        log::error("state not loaded, all series are new", {{"err", loaded.reason}});
    if (loaded.result != state_file::load_result::loaded) return;
    const limiter_figures figures = figures_of(limiter_);
    log::info("state loaded",
              {{"hourly_series", figures.hourly.series_current}, {"daily_series", figures.daily.series_current}});
}

bool state_keeper::save(const pause& between) noexcept try {
    if (directory_.hold()) {
        log::warn("state.dir was removed or its lock was: made anew, and the state with it");
        is_secret_due_ = !secret_to_keep_.empty();
    }
    if (is_secret_due_) {
        keep_secret(directory_, secret_to_keep_);
        is_secret_due_ = false;
    }
    auto saved = file_.save(limiter_, between);
    if (saved.result == state_file::save_result::window_ended) saved = file_.save(limiter_, between);
    if (saved.result == state_file::save_result::saved) {
        metrics_.saves.add();
        metrics_.is_failing.set(0);
        metrics_.bytes.set(static_cast<std::int64_t>(saved.bytes));
        metrics_.save_seconds.set(std::chrono::system_clock::to_time_t(wall_clock::now()));
    }
    if (saved.result == state_file::save_result::failed) note_failure(saved.reason);
    if (saved.result == state_file::save_result::window_ended)
        note_failure(
            "the counts changed too much while they were written, twice: a window's end, a reload, too many new "
            "series, or no memory");
    return saved.result == state_file::save_result::saved;
} catch (const std::exception& error) {
    note_failure(error.what());
    return false;
}

void state_keeper::note_failure(std::string_view reason) {
    metrics_.save_failures.add();
    metrics_.is_failing.set(1);
    log::error("state not saved", {{"err", reason}});
}

bool state_keeper::save_if_changed(const pause& between) noexcept {
    const std::uint64_t revision = limiter_.revision();
    if (revision == saved_revision_ && metrics_.is_failing.value() == 0 && directory_.is_held()) return false;
    const bool saved = save(between);
    if (saved) saved_revision_ = revision;
    return saved;
}

persistence::persistence(sources from) : from_(std::move(from)) {
    if (!from_.in.directory) return;
    load_cardinality();
    state_.emplace(from_.settings, from_.in, from_.key, from_.limiter, from_.metrics, from_.now());
}

void persistence::load_cardinality() {
    cardinality_.emplace(*from_.in.directory, from_.key.identity());
    const std::string wrong = cardinality_->load([this, now = from_.now()](state_decoder& in) {
        return from_.cardinality.demand.load(in) && from_.cardinality.tracker.load(in, now);
    });
    if (!wrong.empty()) log::warn("what was seen before is not loaded", {{"err", wrong}});
}

/// Counts all samples taken so far first. Errors are only logged.
void persistence::save_cardinality() noexcept {
    cardinality_saved_ = monotonic_clock::now();
    try {
        from_.cardinality.sampler.catch_up();
        from_.cardinality.demand.look(from_.limiter, from_.now());
        cardinality_->save([this](state_encoder& out) {
            from_.cardinality.demand.save(out);
            from_.cardinality.tracker.save(out);
        });
    } catch (const std::exception& error) {
        log::error("what was seen is not saved", {{"err", error.what()}});
    }
}

net::awaitable<void> persistence::run(std::stop_token ending) {
    if (!cardinality_) co_return;
    background_pace pace{std::move(ending)};
    const state_keeper::pause rest = [&pace] { pace.rest(); };
    for (;;) {
        co_await sleep_for(from_.settings.state.interval);
        save_now_and_then(rest);
        rest();
    }
}

void persistence::finish() {
    {
        const std::scoped_lock quick{belongs_};
        if (is_given_up_ && !is_wanted_) return;
        is_wanted_ = true;
    }
    const std::scoped_lock lock{saves_};
    if (may_save()) save_all();
}

void persistence::promise() {
    const std::scoped_lock quick{belongs_};
    is_wanted_ = false;
}

bool persistence::give_up() {
    const std::scoped_lock lock{saves_};
    if (is_wanted() || !save_all()) return false;
    const std::scoped_lock quick{belongs_};
    if (is_wanted_) return false;
    if (from_.in.directory) from_.in.directory->give_up();
    is_given_up_ = true;
    return true;
}

bool persistence::take_back() try {
    const std::scoped_lock quick{belongs_};
    is_wanted_ = true;
    return get_back().empty();
} catch (const std::exception&) {  // no memory for what is in the way
    return false;
}

void persistence::save_now_and_then(const state_keeper::pause& between) {
    const std::scoped_lock lock{saves_};
    if (!is_wanted() || !may_save()) return;
    const auto unless_promised = [&] {
        if (is_wanted()) between();
    };
    if (state_ && !from_.is_half_read())
        state_->save_if_changed(unless_promised);  // first: it recreates a missing directory
    if (monotonic_clock::now() - cardinality_saved_ >= cardinality_interval && from_.in.directory->is_held())
        save_cardinality();
}

bool persistence::save_all() {
    const bool saved = !state_ || from_.is_half_read() || state_->save();
    if (cardinality_ && from_.in.directory->is_held()) save_cardinality();
    return saved;
}

bool persistence::may_save() {
    const std::scoped_lock quick{belongs_};
    const std::string fault = get_back();
    if (!fault.empty() && state_) state_->note_failure(fault);
    return fault.empty();
}

bool persistence::is_wanted() {
    const std::scoped_lock quick{belongs_};
    return is_wanted_;
}

/// Call it with belongs_ locked. @return the fault while another process holds the directory.
std::string persistence::get_back() try {
    if (is_given_up_ && from_.in.directory) from_.in.directory->take_back();
    is_given_up_ = false;
    return "";
} catch (const std::exception& error) {
    return error.what();
}

}  // namespace seriesgate
