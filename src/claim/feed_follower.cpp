#include "claim/feed_follower.hpp"

#include "limit/learning.hpp"
#include "limit/limiter.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

/// From the end of the time in which a call is answered until what it was granted is known.
constexpr auto settled_within = 500ms;
/// Some 30 MB, where each names a few budgets.
constexpr std::size_t late_max = 16 * 1024;

}  // namespace

void feed_follower::miss(news& into) noexcept {
    ++into.gaps;
    knows_all_ = false;
    wants_download_ = true;
}

bool feed_follower::read_page(const feed_page& page, steady_point sent, time_point now, news& into) {
    const store_state& store = page.state;
    if (store.status != heartbeat_status::heard || store.epoch != epoch_) {
        // Another epoch has another feed, and gates have refilled what it does not say.
        // Until the store is asked by the epoch that it has, nobody knows where that one's entries begin.
        epoch_ = store.status == heartbeat_status::heard ? store.epoch : std::string{};
        late_.clear();
        read_ = store.status == heartbeat_status::heard ? store.fed : 0;
        knows_all_ = false;
        wants_download_ = true;
        lose();
        return false;
    }
    view_->hear(store.windows);
    static_cast<void>(limiter_->sets_at(now));  // begins the hour that the series are of
    for (const fed_call& each : page.calls) {
        std::uint64_t series = 0;
        for (const fed_run& run : each.runs) series += run.fingerprints.size();
        if (each.upto - series != read_) miss(into);
        const bool is_own = each.run == run_;
        if (!is_own) learn_call(each);
        if (is_own || !late_.empty())
            late_.push_back({.at = is_own ? sent + answers_within_ + settled_within : late_.back().at, .said = each});
        else
            view_->hear(each);
        // Nothing throws from here on. Without memory the entry is read again.
        read_ = each.upto;
        if (!is_own) into.series += series;
    }
    if (page.calls.size() < feed_entries_max && read_ != store.fed) {  // what is left has gone
        read_ = store.fed;
        miss(into);
    }
    const bool is_whole = knows_all_ && read_ == store.fed;
    if (is_whole) view_->set_fresh_until(sent + fresh);
    view_->follows_feed(is_whole);
    return true;
}

void feed_follower::learn_call(const fed_call& said) {
    const window_span hour = hour_of(time_point{std::chrono::hours{said.hour}});
    for (const fed_run& run : said.runs) {
        const bool is_open = !run.windows.hour || learn(*limiter_, hour, run.fingerprints);
        if (!is_open && said.hour == view_->windows().hour) knows_all_ = !(wants_download_ = true);
        if (run.windows.before) static_cast<void>(learn_hour_before(*limiter_, hour, run.fingerprints));
    }
}

void feed_follower::learn_late(steady_point now) {
    if (view_->epoch() != epoch_) late_.clear();  // what was granted has been lost
    while (!late_.empty() && (late_.front().at <= now || late_.size() > late_max)) {
        const fed_call& said = late_.front().said;
        if (said.run == run_) learn_call(said);
        view_->hear(said);
        late_.pop_front();
    }
}

void feed_follower::lose() noexcept {
    view_->set_fresh_until({});
    view_->follows_feed(false);
}

}  // namespace seriesgate
