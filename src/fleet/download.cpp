#include "fleet/download.hpp"

#include <algorithm>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "core/text.hpp"
#include "limit/learning.hpp"
#include "limit/limiter.hpp"
#include "redis/redis_reply.hpp"

namespace seriesgate {
namespace {

constexpr const char* fields_at_once = "512";
/// Bounds the scans of one record: a broken store could answer for ever.
constexpr int record_scans_max = 1 << 16;

using budget_series = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

/// Of HSCAN. @return the cursor for the next call; nothing if that is no such reply.
std::optional<std::string> read_fields(const redisReply& reply, budget_series& into) {
    if (reply.type != REDIS_REPLY_ARRAY || reply.elements != 2) return std::nullopt;
    const redisReply& fields = *reply.element[1];
    const std::string_view cursor = text_of(*reply.element[0]);
    if (fields.type != REDIS_REPLY_ARRAY || fields.elements % 2 != 0 || cursor.empty()) return std::nullopt;
    for (std::size_t i = 0; i < fields.elements; i += 2) {
        const auto id = whole_number<std::uint64_t>(text_of(*fields.element[i]));
        const auto series = whole_number<std::uint64_t>(text_of(*fields.element[i + 1]));
        if (id && series) into.emplace_back(*id, *series);  // other fields have letters in their names
    }
    return std::string{cursor};
}

}  // namespace

net::awaitable<bool> download::read(series_limiter& limiter, std::uint64_t connection) {
    const auto began = monotonic_clock::now();
    ending all;
    co_await read_all(limiter, connection, all);
    shared_.metrics.downloads[all.result].add();
    log_end(all, monotonic_clock::now() - began);
    co_return all.result == download_result::complete;
}

/// The gate is not ready until the series that senders will send have been read. After the grace these are the hour's.
net::awaitable<void> download::read_all(series_limiter& limiter, std::uint64_t connection, ending& all) {
    const open_windows open = shared_.view.windows();
    const std::string epoch = shared_.view.epoch();
    const time_point now = shared_.now();
    const window_span hour = limiter.sets_at(now)->hour_span;
    if (open.hour >= 0 && hour_number(hour.start) != open.hour) {
        all.result = download_result::overtaken;
        co_return;
    }
    if (open.hour >= 0) {
        shared_set set{.record = shared_.keys.hour(open.generation, open.hour), .buckets = open.buckets.hour};
        co_await read_into(limiter, hour, std::move(set), false, all);
    }
    if (now >= hour.start + limiter.rules()->incumbent_grace) shared_.catches_up = false;
    if (open.hour >= 0 && open.buckets.before != 0 && all.result == download_result::complete) {
        shared_set set{.record = shared_.keys.hour(open.generation, open.hour - 1), .buckets = open.buckets.before};
        co_await read_into(limiter, hour, std::move(set), true, all);
    }
    co_await read_records(open, all);
    if (all.result != download_result::complete) co_return;
    const open_windows after = shared_.view.windows();
    const bool is_same =
        after.hour == open.hour && after.generation == open.generation && shared_.view.epoch() == epoch;
    if (!is_same) all.result = download_result::overtaken;
    if (client_.connection_epoch() != connection)
        all = {.result = download_result::failed, .why = "the connection was lost"};
}

net::awaitable<void> download::read_into(series_limiter& limiter, window_span hour, shared_set set, bool before,
                                         ending& all) {
    bool is_in_force = true;
    try {
        if (before) is_in_force = expect_hour_before(limiter, hour);
    } catch (const std::bad_alloc&) {
        all.result = download_result::failed;
        all.why = "no memory";
        co_return;
    }
    set_reading came;
    if (is_in_force) {
        series_taker take = [&limiter, hour, learns = before ? learn_hour_before : learn, &counted = shared_.metrics](
                                std::span<const std::uint64_t> some, std::uint64_t in_all) {
            const bool is_known = learns(limiter, hour, some, in_all);
            if (is_known) counted.downloaded_series.add(some.size());
            return is_known;
        };
        came = co_await read_set(client_, std::move(set), std::move(take));
    }
    all.bytes += came.bytes;
    (before ? all.incumbents : all.series) += came.series;
    if (!is_in_force || came.is_refused) all.result = download_result::overtaken;
    if (!came.failed.empty()) {
        all.result = download_result::failed;
        all.why = came.failed;
    }
}

net::awaitable<void> download::read_records(open_windows open, ending& all) {
    if (open.hour < 0) co_return;
    std::string record = shared_.keys.hour(open.generation, open.hour);
    co_await read_record(std::move(record), open.hour, &fleet_view::budget_counts::hourly, all);
    record = shared_.keys.day(open.generation, day_of_hour(open.hour));
    co_await read_record(std::move(record), open.hour, &fleet_view::budget_counts::daily, all);
    record = shared_.keys.hour(open.generation, open.hour - 1);
    if (open.buckets.before == 0) record.clear();
    co_await read_record(std::move(record), open.hour, &fleet_view::budget_counts::before, all);
}

net::awaitable<bool> download::read_counts() {
    ending all;
    co_await read_records(shared_.view.windows(), all);
    co_return all.result == download_result::complete;
}

/// How many series of a window count in each budget. @param record empty: there is none.
net::awaitable<void> download::read_record(std::string record, std::int64_t hour,
                                           std::uint64_t fleet_view::budget_counts::*window, ending& all) {
    if (all.result != download_result::complete) co_return;
    budget_series counts;
    std::optional<std::string> cursor{"0"};
    for (int scans = 0; !record.empty() && scans < record_scans_max; ++scans) {
        std::vector<std::string> words{"HSCAN", record, *cursor, "COUNT", fields_at_once};
        const auto reply = co_await client_.call(std::move(words), answer_patience);
        cursor = reply ? read_fields(**reply, counts) : std::nullopt;
        if (!cursor) {
            all.result = download_result::failed;
            all.why = reply ? "a record that is none of counts" : reply.error().text;
            co_return;
        }
        if (*cursor == "0") break;
    }
    if (*cursor != "0") {
        all.result = download_result::failed;
        all.why = "a record that does not end";
        co_return;
    }
    shared_.view.hear_record(counts, hour, window);
}

/// Logs success, and each reason of a failure once. A download that an hour's end has overtaken is not logged: the next
/// one follows.
void download::log_end(const ending& of, monotonic_clock::duration lasted) {
    if (of.result == download_result::complete) {
        log::info("the fleet's series are known", {{"series", of.series},
                                                   {"incumbents", of.incumbents},
                                                   {"bytes", of.bytes},
                                                   {"seconds", std::chrono::duration<double>(lasted).count()}});
        said_.clear();
    } else if (of.result == download_result::failed && said_ != of.why) {
        log::warn("the fleet's series cannot be read", {{"err", of.why}});
        said_ = of.why;
    }
}

}  // namespace seriesgate
