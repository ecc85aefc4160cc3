#include "process/warm_start.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "core/text.hpp"
#include "fleet/fleet_shared.hpp"
#include "limit/figures.hpp"
#include "limit/limiter.hpp"
#include "wire/sample_records.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

/// Series that had a sample so shortly before the lookback are old.
constexpr std::chrono::seconds before_lookback = 15min;
/// One query asks for so many names; their text keeps below the stores' limits on queries (16 KiB).
constexpr std::size_t names_per_part = 100;
constexpr std::size_t names_bytes_per_part = 8 * 1024;
constexpr std::size_t names_bytes_max = 32 << 20;
/// Of those in one part, at least: 160 MiB of fingerprints.
constexpr std::size_t old_series_max = 20'000'000;
/// As often as that, a store may fail at a query before it is asked for less.
constexpr int busy_max = 3;
/// Shorter times are not asked for.
constexpr std::chrono::seconds stretch_min = 1min;
/// A store that refuses so many names, one after the other and even for a minute, refuses all.
constexpr std::size_t unread_in_a_row_max = 16;
/// A part of the work under the commit lock, and between two turns of the event loop.
constexpr std::size_t series_per_commit = 256;
constexpr std::size_t body_bytes_max = 256 * 1024;
constexpr std::chrono::seconds pause_min = 1s;
constexpr std::chrono::seconds pause_max = 15s;
constexpr auto progress_interval = 10s;
constexpr auto meeting_time = 5min;
/// Below it the store's labels are probably not the senders'.
constexpr double met_share_min = 0.5;
constexpr auto told_interval = 20ms;

constexpr std::string_view query_path = "/api/v1/query";
constexpr std::string_view names_path = "/api/v1/label/__name__/values";

/// Matchers in PromQL. The name is written as a matcher too, for stores that know no quoted names.
std::string promql_of(const selector& from) {
    constexpr std::string_view operators[] = {"=", "!=", "=~", "!~"};
    std::string text;
    for (const label_matcher& each : from.matchers()) {
        if (!text.empty()) text += ',';
        text += is_identifier(each.name) ? each.name : quoted_text(each.name);
        text += operators[static_cast<std::size_t>(each.op)];
        text += quoted_text(each.value);
    }
    return text;
}

/// A matcher of these names; empty for none.
std::string matcher_of(const std::vector<std::string>& names) {
    if (names.empty()) return "";
    if (names.size() == 1) return "__name__=" + quoted_text(names.front());
    std::string pattern;
    for (const std::string& each : names) pattern.append(pattern.empty() ? "" : "|").append(re2::RE2::QuoteMeta(each));
    return "__name__=~" + quoted_text(pattern);
}

const std::string* name_in(const selector& from) {
    for (const label_matcher& each : from.matchers())
        if (each.name == name_label && each.op == match_op::equal) return &each.value;
    return nullptr;
}

std::vector<selector> selectors_of(const warm_start_config& settings) {
    if (!settings.match.empty()) return settings.match;
    return {*parse_selector("{__name__!=\"\"}")};
}

}  // namespace

warm_start::warm_start(net::io_context& io, const sources& from)
    : from_(from),
      settings_(from.settings.warm_start),
      store_(io, settings_.store, "warmStart", from.settings.tenant_header),
      planning_(from.key, from.settings.ignore_labels),
      began_(monotonic_clock::now()),
      limit_(began_ + settings_.timeout) {
    from_.progress.begin();
}

net::awaitable<void> warm_start::run() {
    if (!from_.progress.is_reading()) co_return;  // after an exception: limits apply already
    clear();
    start_ = std::chrono::floor<seconds>(from_.now());
    next_progress_ = began_ + progress_interval;
    log::info("warm start begins", {{"store", settings_.store.backends.front().authority},
                                    {"lookback_seconds", settings_.lookback.count()},
                                    {"timeout_seconds", std::chrono::duration<double>(settings_.timeout).count()}});
    std::optional<abandoned> early;
    try {
        early = co_await read_all();
    } catch (const std::exception& error) {  // usually no memory
        early = abandoned{warm_state::incomplete, error.what()};
    }
    clear();
    if (!early && !has_any_) note_unread({}, "the store has none of these series: is it asked for the right tenant?");
    const bool is_whole = !early && first_unread_.empty();
    from_.progress.end(early ? early->as : is_whole ? warm_state::complete : warm_state::incomplete);
    log_end(early);
    co_await watch_senders();
}

void warm_start::clear() {
    body_.clear();
    series_in_body_ = 0;
    planning_.shrink();
    old_ = {};
    old_ordered_ = 0;
    younger_ = {};
}

net::awaitable<std::optional<warm_start::abandoned>> warm_start::read_all() {
    std::vector<std::string> tenants = settings_.tenants;
    if (tenants.empty()) tenants.emplace_back();
    for (const std::string& each : tenants)
        if (auto early = co_await read_tenant(each)) co_return early;
    // All old series have their place by now.
    if (from_.fleet != nullptr) {
        co_await wait_until_told();
        co_return std::nullopt;
    }
    for (const part& each : younger_)
        if (auto early = co_await read(each, {settings_.lookback}, use::admit_younger)) co_return early;
    co_return std::nullopt;
}

/// Until then the shared store would grant their places to others.
net::awaitable<void> warm_start::wait_until_told() {
    const std::uint64_t rounds = from_.fleet->told_rounds + 2;  // one may have begun before the last series
    while (from_.fleet->told_rounds < rounds && monotonic_clock::now() < limit_) co_await sleep_for(told_interval);
}

// Lists in braces stand in functions of their own: GCC 12 cannot compile them in coroutines.

/// @param all metric names of the store.
std::vector<warm_start::part> warm_start::parts_of(const std::string& tenant, const selector& match, const names& all) {
    const std::string text = promql_of(match);
    if (const std::string* const name = name_in(match)) return {{tenant, text, {*name}}};
    std::vector<part> made;
    std::size_t bytes = 0;
    for (const std::string& each : all) {
        bytes += each.size();
        if (made.empty() || made.back().of.size() == names_per_part || bytes > names_bytes_per_part) {
            made.push_back({tenant, text, {}});
            bytes = each.size();
        }
        made.back().of.push_back(each);
    }
    return made;
}

net::awaitable<std::optional<warm_start::abandoned>> warm_start::read_tenant(std::string tenant) {
    const std::vector<selector> wanted = selectors_of(settings_);
    names all;
    if (!std::ranges::all_of(wanted, name_in))
        if (auto early = co_await list_names(tenant, all)) co_return early;
    for (const selector& match : wanted) {
        std::vector<part> parts = parts_of(tenant, match, all);
        for (const part& each : parts) from_.progress.names.add(each.of.size());
        for (part& each : parts)
            if (auto early = co_await read_old(std::move(each))) co_return early;
    }
    co_return std::nullopt;
}

store_query warm_start::names_query(std::string_view tenant) const {
    const seconds since = start_.time_since_epoch() - settings_.lookback;
    return {.path = names_path,
            .arguments = {{"start", std::to_string(since.count())},
                          {"end", std::to_string(start_.time_since_epoch().count())}},
            .tenant = tenant,
            .is_post = false};
}

/// Without a selector: a store may refuse to search all series for names, and may not refuse to list all names.
net::awaitable<std::optional<warm_start::abandoned>> warm_start::list_names(std::string_view tenant, names& found) {
    const store_query asked = names_query(tenant);
    for (seconds pause = pause_min;;) {
        found.clear();
        std::size_t bytes = 0;
        query_answer answer{{}, [&](std::string_view name) {
                                bytes += name.size() + sizeof(std::string);
                                if (bytes <= names_bytes_max && !name.empty()) found.emplace_back(name);
                            }};
        const query_outcome got = co_await store_.ask(asked, answer, limit_);
        if (got.how == query_end::answered) {
            if (!got.warning.empty()) note_unread({}, "the list of metric names: " + got.warning);
            if (bytes > names_bytes_max) note_unread({}, "there are too many metric names");
            co_return std::nullopt;
        }
        const std::string why = "listing metric names: " + got.why;
        if (got.how != query_end::busy && got.how != query_end::away) co_return abandoned{warm_state::failed, why};
        if (auto early = co_await wait_for_store(why, pause)) co_return early;
    }
}

net::awaitable<bool> warm_start::lists_names(std::string_view tenant) {
    const store_query asked = names_query(tenant);
    query_answer answer{{}, [](std::string_view) {}};
    const query_outcome got = co_await store_.ask(asked, answer, limit_);
    co_return got.how == query_end::answered;
}

/// First finds which series are old, then admits those of them that are still there.
net::awaitable<std::optional<warm_start::abandoned>> warm_start::read_old(part of) {
    old_.clear();
    old_ordered_ = 0;
    has_younger_ = false;
    const stretch before{.length = before_lookback, .ago = settings_.lookback};
    if (auto early = co_await read(of, before, use::note_old)) co_return early;
    order_old();
    if (auto early = co_await read(of, {settings_.lookback}, use::admit_old)) co_return early;
    from_.progress.names_read.add(of.of.size());
    if (has_younger_) younger_.push_back(std::move(of));
    co_return std::nullopt;
}

/// Reads a part in pieces as large as the store answers.
net::awaitable<std::optional<warm_start::abandoned>> warm_start::read(const part& of, stretch when, use what) {
    struct piece {
        part of;
        stretch when;
        int busy = 0;
        std::optional<std::uint64_t> deferred_at{};  // answers_ when the others were put first
    };
    std::vector<piece> left{{of, when}};
    seconds pause = pause_min;
    while (!left.empty()) {
        piece now = std::move(left.back());
        left.pop_back();
        const query_outcome got = co_await ask(now.of, now.when, what);
        log_progress();
        const int tries_max = now.deferred_at ? 1 : busy_max;
        const bool is_divisible = now.of.of.size() > 1 || now.when.length > stretch_min;
        if (got.how == query_end::answered) {
            unread_in_a_row_ = 0;
            ++answers_;
            pause = pause_min;
        } else if (got.how == query_end::rejected) {
            co_return abandoned{warm_state::failed, got.why};
        } else if (got.how == query_end::away || (got.how == query_end::busy && ++now.busy < tries_max)) {
            left.push_back(std::move(now));
            if (auto early = co_await wait_for_store(got.why, pause)) co_return early;
        } else if (got.how == query_end::busy && !is_divisible && now.deferred_at.value_or(answers_) == answers_) {
            // Perhaps it always fails at this name, perhaps at all for now: the others first, then this once more.
            const names same = now.of.of;
            const std::string why = same.empty() ? got.why : quoted_text(same.front()) + ": " + got.why;
            left.push_back(std::move(now));
            const auto others = std::stable_partition(left.begin(), left.end(),
                                                      [&same](const piece& each) { return each.of.of == same; });
            for (auto each = left.begin(); each != others; ++each) each->deferred_at = answers_;
            const bool is_all = others == left.end();
            if (auto early = co_await wait_for_store(why, pause)) co_return early;
            if (is_all && co_await lists_names(of.tenant)) ++answers_;  // the store is well
        } else if (now.of.of.size() > 1) {
            piece other = now;
            const auto middle = static_cast<std::ptrdiff_t>(now.of.of.size() / 2);
            other.of.of.erase(other.of.of.begin(), other.of.of.begin() + middle);
            now.of.of.erase(now.of.of.begin() + middle, now.of.of.end());
            now.busy = other.busy = 0;
            pause = pause_min;
            left.push_back(std::move(other));
            left.push_back(std::move(now));
        } else if (is_divisible) {
            const seconds half = std::max<seconds>(stretch_min, now.when.length / 2);
            const stretch older{.length = now.when.length - half, .ago = now.when.ago + half};
            left.push_back({.of = now.of, .when = older, .deferred_at = now.deferred_at});
            left.push_back(
                {.of = now.of, .when = {.length = half, .ago = now.when.ago}, .deferred_at = now.deferred_at});
            pause = pause_min;
        } else {
            if (note_unread(now.of, got.why) && !now.deferred_at && ++unread_in_a_row_ == unread_in_a_row_max)
                co_return abandoned{warm_state::failed, got.why};
        }
        if (monotonic_clock::now() >= limit_) co_return abandoned{warm_state::incomplete, "warmStart.timeout is over"};
    }
    co_return std::nullopt;
}

store_query warm_start::series_query(const part& of, const stretch& when) const {
    std::string matchers = matcher_of(of.of);
    if (matchers.empty() || of.match.empty())
        matchers += of.match;
    else
        matchers += "," + of.match;
    std::string query = fmt::format("last_over_time({{{}}}[{}s]", matchers, when.length.count());
    if (when.ago != 0s) query += fmt::format(" offset {}s", when.ago.count());
    // The last three: VictoriaMetrics' cache hides the newest samples, and Thanos drops labels to remove duplicates.
    return {.path = query_path,
            .arguments = {{"query", query + ")"},
                          {"time", std::to_string(start_.time_since_epoch().count())},
                          {"nocache", "1"},
                          {"dedup", "false"},
                          {"partial_response", "false"}},
            .tenant = of.tenant};
}

net::awaitable<query_outcome> warm_start::ask(const part& of, const stretch& when, use what) {
    const store_query asked = series_query(of, when);
    const reading to{.what = what, .tenant = of.tenant};
    query_answer answer{[&](std::span<const label_view> labels) { take(labels, to); }};
    query_outcome got = co_await store_.ask(asked, answer, limit_);
    flush(to);
    if (got.how == query_end::answered && !got.warning.empty()) note_unread(of, got.warning);
    co_return got;
}

/// @return why it goes no further: the time is over.
net::awaitable<std::optional<warm_start::abandoned>> warm_start::wait_for_store(const std::string& why,
                                                                                seconds& pause) {
    co_await sleep_until(std::min(limit_, monotonic_clock::now() + pause));
    pause = std::min(pause_max, 2 * pause);
    if (monotonic_clock::now() < limit_) co_return std::nullopt;
    co_return abandoned{warm_state::incomplete, why};
}

// --- The series of an answer.

void warm_start::take(std::span<const label_view> labels, const reading& to) {
    constexpr std::uint64_t any_value = 0;
    append_series(body_, labels, any_value,
                  std::chrono::duration_cast<std::chrono::milliseconds>(start_.time_since_epoch()).count());
    if (++series_in_body_ == series_per_commit || body_.size() >= body_bytes_max) flush(to);
}

/// Reads the series as a request, so that their fingerprints are those of senders.
void warm_start::flush(const reading& to) {
    if (series_in_body_ == 0) return;
    const wire_error wrong = planning_.read(body_, to.tenant, protocol::v1);
    if (wrong.code == wire_errc::none) use_series(to);
    body_.clear();
    series_in_body_ = 0;
}

void warm_start::use_series(const reading& to) {
    if (to.what == use::note_old) return note_old();
    has_any_ = true;  // known ones, too: a gate of a fleet may have read them from the shared store
    warm_series& progress = from_.progress;
    const bool admits_old = to.what == use::admit_old;
    const std::size_t all = planning_.entry_count();
    planning_.keep_series([&](std::uint64_t fingerprint) { return !admits_old || is_old(fingerprint); });
    has_younger_ = has_younger_ || planning_.entry_count() < all;
    const auto made = planning_.decide(from_.limiter, from_.now(), to.tenant, admits_old);
    if (!made) {  // limits would have to look at too much; senders of these series meet the same
        note_unread({}, "the limits' selectors take too long");
        return;
    }
    if (admits_old) {
        progress.admitted.add(made->returned.size());
        plan old;
        old.returned = made->returned;
        from_.sampler.take(old, planning_, body_, protocol::v1, {.tenant = to.tenant}, from_.now());
    } else {
        progress.younger.add(made->newly_admitted.size());
    }
    progress.without_room.add(made->newly_refused.size());
    for (std::size_t i = 0; i < planning_.entry_count(); ++i)
        if (is_accepted(planning_.verdict_of(i))) progress.note(planning_.fingerprint_at(i));
}

/// The same series come in several times, and after a store broke off.
void warm_start::note_old() {
    for (const offered_series& each : planning_.offered()) old_.push_back(each.fingerprint);
    constexpr std::size_t unordered_min = 1'000'000;
    if (old_.size() - old_ordered_ >= std::max(unordered_min, old_ordered_)) order_old();
    if (old_.size() <= old_series_max + unordered_min) return;
    order_old();
    if (old_.size() <= old_series_max) return;
    old_.resize(old_series_max);
    old_ordered_ = old_.size();
    note_unread({}, "so many series are old that the others of their metric names count as younger");
}

void warm_start::order_old() {
    std::ranges::sort(old_);
    old_.erase(std::unique(old_.begin(), old_.end()), old_.end());
    old_ordered_ = old_.size();
}

bool warm_start::is_old(std::uint64_t fingerprint) const noexcept {
    return std::ranges::binary_search(old_, fingerprint);
}

// --- What it says.

/// @return whether it is the first time for this name.
bool warm_start::note_unread(const part& of, const std::string& why) {
    constexpr std::size_t shown_max = 100;
    if (first_unread_.empty())
        first_unread_ = of.of.empty() ? why : quoted_text(of.of.front().substr(0, shown_max)) + ": " + why;
    if (of.of.empty() || !in_part_.insert(of.tenant + '\n' + of.of.front()).second) return false;
    from_.progress.names_in_part.add(of.of.size());
    return true;
}

void warm_start::log_progress() {
    const auto now = monotonic_clock::now();
    if (now < next_progress_) return;
    next_progress_ = now + progress_interval;
    const warm_series& progress = from_.progress;
    log::info("warm start goes on", {{"series", progress.admitted.value()},
                                     {"younger", progress.younger.value()},
                                     {"metric_names", progress.names.value()},
                                     {"metric_names_read", progress.names_read.value()}});
}

std::size_t warm_start::limits_exceeded() const {
    const auto exceeds = [](const budget_window_figures& of) {
        return of.series_max != 0 && of.series_current > of.series_max;
    };
    const auto is_exceeded = [&](const budget_figures& each) {
        return exceeds(each.hourly) || exceeds(each.daily) || (each.active && exceeds(*each.active));
    };
    const limiter_figures figures = figures_of(from_.limiter);
    return static_cast<std::size_t>(is_exceeded(figures.global) + std::ranges::count_if(figures.tenants, is_exceeded) +
                                    std::ranges::count_if(figures.limits, is_exceeded));
}

void warm_start::log_end(const std::optional<abandoned>& early) {
    const warm_series& progress = from_.progress;
    const std::chrono::duration<double> took = monotonic_clock::now() - began_;
    const std::string& why = early ? early->why : first_unread_;
    if (progress.state() == warm_state::complete)
        return log::info("warm start is complete", {{"series", progress.admitted.value()},
                                                    {"younger", progress.younger.value()},
                                                    {"without_room", progress.without_room.value()},
                                                    {"limits_exceeded", limits_exceeded()},
                                                    {"seconds", took.count()}});
    log::warn("warm start is incomplete: limits apply, and series that were not read are new",
              {{"err", why},
               {"series", progress.admitted.value()},
               {"younger", progress.younger.value()},
               {"without_room", progress.without_room.value()},
               {"limits_exceeded", limits_exceeded()},
               {"metric_names", progress.names.value()},
               {"metric_names_read", progress.names_read.value()},
               {"seconds", took.count()}});
}

net::awaitable<void> warm_start::watch_senders() {
    co_await sleep_for(meeting_time);
    from_.progress.end_meeting();
    const auto met = from_.progress.met();
    if (!met) co_return;
    if (*met >= met_share_min) co_return log::info("senders have the series of the warm start", {{"met_ratio", *met}});
    log::warn(
        "senders have few of the series of the warm start: are the store's labels others than those that senders send?",
        {{"met_ratio", *met}});
}

}  // namespace seriesgate
