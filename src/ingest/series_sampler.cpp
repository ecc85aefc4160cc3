#include "ingest/series_sampler.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <new>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "limit/commit_state.hpp"
#include "limit/limiter.hpp"
#include "wire/field_cursor.hpp"
#include "wire/write_request.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

/// Delay of counting: long enough to count in batches, short enough for people. catch_up() does not wait for it.
constexpr auto interval = 50ms;
/// With this many waiting bytes, counting starts at once.
constexpr std::size_t wake_bytes = series_sampler::bytes_max / 16;
/// From this many bytes on, and after each further step, the sampler halves the share of series that it looks at.
constexpr std::size_t thin_bytes = series_sampler::bytes_max / 4;
constexpr std::size_t thin_step = series_sampler::bytes_max / 16;
/// Smaller remote write 1 entries are copied as they are; of larger ones only the labels.
constexpr std::size_t record_bytes_max = 4096;
/// Bound of a batch, plus one series. The allocator would return larger blocks to the system each time.
constexpr std::size_t batch_bytes = 64u << 10;
constexpr std::size_t usual_record_bytes = 300;

/// How many bytes of labels are copied.
struct label_room {
    std::size_t labels = record_bytes_max;
    std::size_t value = whole_value_max + 3;
};
constexpr label_room room_in_ring{.labels = series_sampler::labels_bytes_max,
                                  .value = series_sampler::labels_bytes_max};

/// Keeps both ends: long values often differ near their end.
std::string both_ends(bytes_view value, std::size_t room) {
    constexpr std::string_view mark = "...";
    const std::size_t kept = room - std::min(room, mark.size());
    const std::size_t first = (kept + 1) / 2;
    return std::string{value.substr(0, first)}.append(mark).append(value.substr(value.size() - (kept - first)));
}

/// Appends an entry with these labels and nothing else. Cuts long labels, so that one series does not take the room of
/// many.
/// @return whether all labels fit.
bool append_labels(std::string& out, std::span<const label_view> labels, const label_room& room) {
    constexpr auto entry_tag = tag_of(1, wire_type::len);
    std::string inner;
    bool is_whole = true;
    for (const label_view& each : labels) {
        const std::size_t left = room.labels - std::min(room.labels, inner.size());
        if (each.name.size() >= left) {
            is_whole = false;
            break;
        }
        const std::size_t value_max = std::min(room.value, left - each.name.size());
        const bool is_cut = each.value.size() > value_max;
        is_whole = is_whole && !is_cut;
        append_label(inner, each.name, is_cut ? bytes_view{both_ends(each.value, value_max)} : each.value);
    }
    append_bytes(out, entry_tag, inner);
    return is_whole;
}

constexpr std::size_t agent_bytes_max = 128;

request_sender sender_of(const decided_request& request) {
    const std::string_view agent = field_value(request.from.headers, http::field::user_agent);
    return {.tenant = request.tenant, .address = request.from.sender, .agent = agent.substr(0, agent_bytes_max)};
}

}  // namespace

std::size_t series_sampler::batch::bytes() const noexcept {
    return sizeof *this + entries.capacity() * sizeof(entry) + records.capacity() + tenant.size() + address.size() +
           agent.size();
}

class series_sampler::batch_labels final : public label_source {
    const batch& of_;
    write_request_reader reader_{};
    std::vector<label_view> labels_{};

  public:
    explicit batch_labels(const batch& of) : of_(of) { reader_.reset(of.records); }

    std::span<const label_view> labels(std::size_t entry) override {
        reader_.labels(of_.entries[entry].record, labels_);
        return labels_;
    }
    histogram_family family(std::size_t, std::span<const label_view>) override { return {}; }
};

void series_sampler::take(const plan& decided, planner& planning, bytes_view body, protocol version,
                          const request_sender& from, time_point now) {
    take(series_event::newly_admitted, decided.newly_admitted, planning, body, version, from, now);
    take(series_event::refused, decided.newly_refused, planning, body, version, from, now);
    take(series_event::returned, decided.returned, planning, body, version, from, now);
}

/// On bad_alloc only the sample is lost: the request has been decided and goes on.
void series_sampler::take(series_event kind, std::span<const std::uint32_t> entries, planner& planning, bytes_view body,
                          protocol version, const request_sender& from, time_point now) {
    std::size_t unput = entries.size();
    try {
        if (entries.empty()) return;
        const bool is_refused = kind == series_event::refused;
        const std::size_t for_ring = is_refused ? refused_.grant(entries.size(), now) : 0;
        batch made = begin(kind, from, now, for_ring + tracker_.share(kind, entries.size()));
        for (std::size_t i = 0; i < entries.size(); ++i) {
            const std::uint32_t entry = entries[i];
            const bool is_kept = i >= entries.size() - for_ring;
            const std::uint64_t fingerprint = planning.fingerprint_at(entry);
            if (!is_kept && tracker_.leaves_out(kind, fingerprint)) continue;
            const auto start = static_cast<std::uint32_t>(made.records.size());
            const byte_range& record = planning.record_of(entry);
            bool is_whole = true;
            if (version == protocol::v1 && record.size <= record_bytes_max)
                made.records.append(slice(body, record));
            else
                is_whole = append_labels(made.records, planning.labels(entry),
                                         is_kept && waiting_.lock()->bytes < wake_bytes ? room_in_ring : label_room{});
            made.entries.push_back(
                {.fingerprint = fingerprint,
                 .record = {start, static_cast<std::uint32_t>(made.records.size()) - start},
                 .refused = is_refused ? refusal{planning.verdict_of(entry), planning.limit_of(entry)} : refusal{},
                 .is_kept = is_kept,
                 .is_whole = is_whole});
            if (made.records.size() + record_bytes_max <= batch_bytes) continue;
            put(std::exchange(made, begin(kind, from, now, tracker_.share(kind, entries.size() - i))));
            unput = entries.size() - i - 1;
        }
        put(std::move(made));
    } catch (const std::bad_alloc&) {
        tracker_.miss(kind, unput);
    }
}

/// @param count expected series.
series_sampler::batch series_sampler::begin(series_event kind, const request_sender& from, time_point now,
                                            std::size_t count) {
    batch made{.kind = kind,
               .tenant = std::string{from.tenant},
               .address = std::string{from.address},
               .agent = std::string{from.agent},
               .when = now};
    made.entries.reserve(std::min(count, batch_bytes / usual_record_bytes));
    made.records.reserve(std::min(count * usual_record_bytes, batch_bytes));
    return made;
}

void series_sampler::put(batch made) {
    if (made.entries.empty()) return;
    const series_event kind = made.kind;
    const std::size_t bytes = made.bytes(), count = made.entries.size();
    {
        auto held = waiting_.lock();
        if (held->bytes + bytes <= bytes_max) {
            const bool was_empty = held->batches.empty();
            held->batches.push_back(std::move(made));
            held->bytes += bytes;
            if (was_empty || held->bytes > wake_bytes)
                if (const auto counting = held->wakes.lock()) counting->notify();
            if (held->bytes < held->thin_at) return;
            held->thin_at += thin_step;
            return tracker_.thin_out(kind);
        }
    }
    tracker_.miss(kind, count);
}

void series_sampler::catch_up() {
    const std::scoped_lock one{counting_};
    // Takes only the batches that wait now: a flood must not hold up the caller.
    for (std::size_t left = waiting_.lock()->batches.size(); left > 0; --left) {
        batch next;
        {
            auto held = waiting_.lock();
            assert(!held->batches.empty());  // counting_ is held: only this thread takes batches
            next = std::move(held->batches.front());
            held->batches.pop_front();
            held->bytes -= next.bytes();
            if (held->bytes < wake_bytes) held->thin_at = thin_bytes;
        }
        std::size_t uncounted = next.entries.size();
        try {
            count(next);
            uncounted = 0;
            keep_refused(next);
        } catch (const std::bad_alloc&) {
            tracker_.miss(next.kind, uncounted);
        }
    }
}

void series_sampler::end_hours() {
    const time_point counted = tracker_.hour_start();  // first: a thread that counts may end this hour meanwhile
    const time_point hour = limiter_.sets()->hour_span.start;
    if (hour == counted) return;
    catch_up();
    tracker_.maintain(hour, clock_order::may_go_back);
}

void series_sampler::count(const batch& of) {
    // Ends the hours before, so that a late batch counts in its own hour. The limiter decides which hour it is, since
    // clocks may be wrong.
    tracker_.maintain(std::min<time_point>(of.when, limiter_.sets()->hour_span.start));
    std::vector<std::uint64_t> fingerprints;
    for (const batch::entry& each : of.entries) fingerprints.push_back(each.fingerprint);
    batch_labels labels{of};
    tracker_.note(of.kind, fingerprints, labels, {.tenant = of.tenant, .address = of.address, .agent = of.agent},
                  of.when);
}

void series_sampler::keep_refused(const batch& of) {
    batch_labels labels{of};
    for (std::size_t i = 0; i < of.entries.size(); ++i) {
        if (!of.entries[i].is_kept) continue;
        refused_series made = describe(of, of.entries[i]);
        set_labels(made, labels.labels(i));
        refused_.put(of.entries[i].fingerprint, std::move(made));
    }
}

refused_series series_sampler::describe(const batch& of, const batch::entry& entry) const {
    return {.is_cut = !entry.is_whole,
            .tenant = of.tenant,
            .limit = limiter_.limit_name(entry.refused.limit),
            .window = window_of(entry.refused.how),
            .sender = of.address,
            .agent = of.agent,
            .when = of.when};
}

net::awaitable<void> series_sampler::run(std::function<void()> begins) {
    const auto wakes = std::make_shared<async_event>(co_await net::this_coro::executor);
    waiting_.lock()->wakes = wakes;
    for (;;) {
        catch_up();
        co_await wakes->wait();
        if (!waiting_.lock()->batches.empty()) begins();
        co_await wakes->wait_until(monotonic_clock::now() + interval);
    }
}

void sample_series(const decided_request& request, planner& planning, ingest_shared& shared) {
    const plan& decided = request.decided;
    if (decided.newly_admitted.empty() && decided.returned.empty() && decided.newly_refused.empty()) return;
    shared.sampler.take(decided, planning, request.decoded, request.kind.version, sender_of(request), shared.now());
}

}  // namespace seriesgate
