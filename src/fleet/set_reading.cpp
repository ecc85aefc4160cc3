#include "fleet/set_reading.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "fleet/fleet_shared.hpp"
#include "fleet/store_keys.hpp"
#include "net/async.hpp"
#include "net/event_loop.hpp"

namespace seriesgate {
namespace {

// --- What DUMP gives.

constexpr unsigned char type_intset = 11;
constexpr std::size_t footer_bytes = 2 + 8;
constexpr std::size_t intset_header_bytes = 4 + 4;

unsigned char byte_at(std::string_view bytes, std::size_t at) noexcept {
    return static_cast<unsigned char>(bytes[at]);
}

/// Lowest byte first, with the sign of the highest one. @param size at most 8
std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t size) noexcept {
    std::uint64_t value = (byte_at(bytes, at + size - 1) & 0x80) != 0 ? ~std::uint64_t{0} : 0;
    for (std::size_t i = size; i-- > 0;) value = value << 8 | byte_at(bytes, at + i);
    return value;
}

/// Takes the length off that a string has before it. @return nothing for the forms of strings that are none as they are
std::optional<std::uint64_t> take_length(std::string_view& bytes) noexcept {
    if (bytes.empty()) return std::nullopt;
    const unsigned char first = byte_at(bytes, 0);
    std::size_t more = 0;
    std::uint64_t length = 0;
    if (first < 0x40) {
        length = first;
    } else if (first < 0x80) {
        length = first & 0x3f;
        more = 1;
    } else if (first == 0x80) {
        more = 4;
    } else if (first == 0x81) {
        more = 8;
    } else {
        return std::nullopt;
    }
    if (bytes.size() < 1 + more) return std::nullopt;
    for (std::size_t i = 0; i < more; ++i) length = length << 8 | byte_at(bytes, 1 + i);  // highest byte first
    bytes.remove_prefix(1 + more);
    return length;
}

}  // namespace

bool read_set_dump(std::string_view payload, std::vector<std::uint64_t>& into) {
    if (payload.size() < 1 + footer_bytes || byte_at(payload, 0) != type_intset) return false;
    std::string_view set = payload.substr(1, payload.size() - 1 - footer_bytes);
    const std::optional<std::uint64_t> length = take_length(set);
    if (length != set.size() || set.size() < intset_header_bytes) return false;
    const std::uint64_t size = number_at(set, 0, 4);
    const std::uint64_t count = number_at(set, 4, 4);
    set.remove_prefix(intset_header_bytes);
    if ((size != 2 && size != 4 && size != 8) || set.size() % size != 0 || count != set.size() / size) return false;
    into.reserve(into.size() + static_cast<std::size_t>(count));
    for (std::size_t at = 0; at < set.size(); at += static_cast<std::size_t>(size))
        into.push_back(number_at(set, at, static_cast<std::size_t>(size)));
    return true;
}

// --- One set.

namespace {

using namespace std::chrono_literals;

/// Buckets under way: 64 of them keep the store from others for half a millisecond.
constexpr std::uint32_t buckets_at_once = 64;
/// Beyond so many a bucket is in no compact form (set-max-intset-entries), and it takes the store long to write it.
constexpr long long compact_members_max = 512;
constexpr const char* scanned_at_once = "512";
/// Bounds the scans of one bucket: a broken store could answer for ever.
constexpr int scans_max = 1 << 16;

/// What the coroutines that read one set share. They own it together, so it is there for whichever ends last.
struct reading {
    redis_client& over;
    const shared_set set;
    const series_taker take;
    const std::uint64_t connection;
    async_timer ended;
    bool dumps = false;
    std::uint64_t in_all = 0;
    std::uint32_t next = 0;  // bucket
    std::uint32_t running = 0;
    set_reading came{};

    reading(const net::any_io_executor& where, redis_client& client, shared_set of, series_taker taker)
        : over(client),
          set(std::move(of)),
          take(std::move(taker)),
          connection(client.connection_epoch()),
          ended(where, async_timer::time_point::max()) {}

    [[nodiscard]] bool goes_on() const noexcept {
        return next < set.buckets && came.failed.empty() && !came.is_refused;
    }
    void fail(std::string why) {
        if (came.failed.empty()) came.failed = std::move(why);
    }
    void hand_over(std::span<const std::uint64_t> series) {
        if (over.connection_epoch() != connection) return fail("the connection was lost");
        if (series.empty() || came.is_refused) return;
        came.is_refused = !take(series, in_all);
        if (!came.is_refused) came.series += series.size();
    }
};

/// Of SSCAN. @return the cursor for the next call; nothing if that is no such reply.
std::optional<std::string> read_scan(const redisReply& reply, std::vector<std::uint64_t>& into, std::uint64_t& bytes) {
    if (reply.type != REDIS_REPLY_ARRAY || reply.elements != 2) return std::nullopt;
    const redisReply& members = *reply.element[1];
    const std::string_view cursor = text_of(*reply.element[0]);
    if (members.type != REDIS_REPLY_ARRAY || cursor.empty()) return std::nullopt;
    for (std::size_t i = 0; i < members.elements; ++i) {
        const std::string_view text = text_of(*members.element[i]);
        const auto number = whole_number<std::int64_t>(text);
        if (!number) return std::nullopt;
        into.push_back(static_cast<std::uint64_t>(*number));
        bytes += text.size();
    }
    return std::string{cursor};
}

net::awaitable<void> scan_bucket(reading& all, std::string key) {
    std::vector<std::uint64_t> members;
    std::optional<std::string> cursor{"0"};
    for (int scans = 0; scans < scans_max; ++scans) {
        std::vector<std::string> words{"SSCAN", key, *cursor, "COUNT", scanned_at_once};
        const auto reply = co_await all.over.call(std::move(words), answer_patience);
        if (!reply) co_return all.fail(reply.error().text);
        members.clear();
        cursor = read_scan(**reply, members, all.came.bytes);
        if (!cursor) co_return all.fail("a set that is none of fingerprints: " + key);
        all.hand_over(members);
        if (*cursor == "0" || !all.came.failed.empty() || all.came.is_refused) co_return;
    }
    all.fail("a set that does not end: " + key);
}

/// Whoever may not use DUMP is told so once.
net::awaitable<void> read_bucket(reading& all, std::string key) {
    if (!all.dumps) co_return co_await scan_bucket(all, std::move(key));
    std::vector<std::string> words{"DUMP", key};
    const auto reply = co_await all.over.call(std::move(words), answer_patience);
    if (!reply && reply.error().why == redis_error::kind::denied) all.dumps = false;
    if (!reply && all.dumps) co_return all.fail(reply.error().text);
    if (reply && (*reply)->type == REDIS_REPLY_NIL) co_return all.hand_over({});
    std::vector<std::uint64_t> members;
    if (!reply || !read_set_dump(text_of(**reply), members)) co_return co_await scan_bucket(all, std::move(key));
    all.came.bytes += text_of(**reply).size();
    all.hand_over(members);
}

net::awaitable<void> read_buckets(std::shared_ptr<reading> all) {
    try {
        while (all->goes_on()) {
            std::string key = bucket_key_at(all->set.record, bucket_in_turn(all->next++, all->set.buckets));
            co_await read_bucket(*all, std::move(key));
        }
    } catch (const std::exception& error) {
        all->fail(error.what());
    }
    if (--all->running == 0) all->ended.cancel();
}

}  // namespace

net::awaitable<set_reading> read_set(redis_client& over, shared_set set, series_taker take) {
    const auto where = co_await net::this_coro::executor;
    const auto all = std::make_shared<reading>(where, over, std::move(set), std::move(take));
    std::vector<std::string> words{"SCARD", bucket_key_at(all->set.record, 0)};  // buckets are about equally full
    const auto size = co_await over.call(std::move(words), answer_patience);
    if (size && (*size)->type == REDIS_REPLY_INTEGER) {
        all->dumps = (*size)->integer <= compact_members_max;
        all->in_all = static_cast<std::uint64_t>((*size)->integer) * all->set.buckets;
    }
    all->running = std::min(buckets_at_once, all->set.buckets);
    for (std::uint32_t i = std::min(buckets_at_once, all->set.buckets); i > 0; --i)
        spawn(where, read_buckets(all), "reading the fleet's series failed");
    if (all->running != 0) co_await all->ended.async_wait(no_throw);
    co_return std::move(all->came);
}

}  // namespace seriesgate
