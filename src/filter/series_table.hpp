/// An exact set of series: fingerprints in an open-addressing table, each with the minute when it was last seen.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/bytes.hpp"

namespace seriesgate {

/// Minutes since 1970. Windows begin with a minute, so whether a window has a series is read from it.
using minute_number = std::uint32_t;

/// Of the budgets that an active series counts in, see limit/active_series.hpp. 0: the series is not active.
using combination_number = std::uint32_t;

/// What the table knows of a series.
struct series_mark {
    minute_number seen = 0;   ///< when it was last seen; 0: never
    bool was_before = false;  ///< in the hour before that hour, it was seen as well
    bool is_day_key = false;  ///< stands in the day's window alone, see commit_state::remember
    combination_number combination = 0;
    bool is_outdated = false;  ///< other budgets may count it by now: its next sample finds them
    // Fleet: the shared store has yet to be told of it.
    bool is_untold = false;         ///< in the hour when it was last seen, and in that day
    bool is_untold_before = false;  ///< in the hour before that hour

    static constexpr combination_number combination_max = (combination_number{1} << 26) - 1;

    /// Whether the series was seen in the hour before the one that begins at this minute. The table must know that
    /// hour.
    [[nodiscard]] constexpr bool was_in_hour_before(minute_number hour_begins) const noexcept {
        return seen >= hour_begins ? was_before : seen + 60 >= hour_begins;
    }

    friend bool operator==(const series_mark&, const series_mark&) = default;
};

/// The high bits of a fingerprint choose a partition: one to seven leaves of 512 cache lines, with four entries a line.
/// A series stands in one of two lines of its partition.
///
/// Growth rewrites one partition at a time, into one leaf more, or from seven leaves into two partitions of four. So an
/// entry takes 20 to 27 bytes, in leaves. Whoever knows how many series will come has partitions grow to that at once.
/// Sources: Larson, "Linear Hashing with Partial Expansions", 1980; Azar, Broder, Karlin, Upfal, "Balanced
/// Allocations", 1994 (two lines to choose from).
///
/// An entry last seen before forget_before() counts as empty: an insert or the next rewrite takes its place.
///
/// Threads: read() and a view any, without a lock. insert(), find_room(), visit_some() and forget_before() under the
/// commit lock. The functions of growth one at a time, under the growth lock; plan(), plan_for_room() and apply() under
/// the commit lock as well.
class series_table {
    using word = std::atomic<std::uint64_t>;
    static_assert(word::is_always_lock_free);
    static constexpr std::size_t ways = 4;
    static constexpr std::size_t lines_per_leaf = 512;
    static constexpr std::size_t leaves_max = 7;
    /// Most divisions of a partition in one rewrite. Keys that four more bits do not separate are no hashes: the state
    /// is damaged.
    static constexpr unsigned divisions_max = 4;
    static constexpr std::size_t entries_per_leaf = ways * lines_per_leaf;

    struct alignas(64) line {
        std::array<word, ways> keys;
        std::array<word, ways> marks;
    };
    struct alignas(64) partition {
        std::atomic<std::uint32_t> leaf_count{0};
        std::atomic<std::uint32_t> live{0};  ///< entries that are not forgotten; too large once more are
        std::array<std::atomic<line*>, leaves_max> leaves{};
    };
    static_assert(sizeof(line) == 64 && sizeof(partition) == 64);

    /// A partition stands in several places if others were divided more often; the first of them has its counts.
    struct directory {
        unsigned bits;
        std::vector<partition> places;
        struct upkeep {
            std::uint8_t bits = 0;            ///< that the partition is chosen by
            minute_number counted_since = 0;  ///< live_since() when `live` was counted
        };
        std::vector<upkeep> kept;

        explicit directory(unsigned of_bits);
        [[nodiscard]] std::size_t place_of(std::uint64_t fingerprint) const noexcept {
            return static_cast<std::size_t>(fingerprint >> (64 - bits));
        }
        /// Places that hold the same partition as the place.
        [[nodiscard]] std::size_t span_of(std::size_t place) const noexcept {
            return std::size_t{1} << (bits - kept[place].bits);
        }
        [[nodiscard]] std::size_t first_of(std::size_t place) const noexcept { return place & ~(span_of(place) - 1); }
    };
    struct line_pair {
        line* one;
        line* other;
    };
    struct entry {
        word* key = nullptr;
        word* mark = nullptr;
    };

  public:
    /// @param expected so many series find room without growth.
    explicit series_table(std::uint64_t expected = 0);

    /// The table as one request sees it. Short-lived, see free_retired().
    class view {
        const directory* directory_;

      public:
        explicit view(const directory& of) noexcept : directory_(&of) {}

        /// In two steps: where the lines are found, and then the lines. In a large table neither is in a cache.
        void prefetch_place(std::uint64_t fingerprint) const noexcept {
            __builtin_prefetch(&directory_->places[directory_->place_of(key_of(fingerprint))]);
        }
        void prefetch(std::uint64_t fingerprint) const noexcept {
            const auto [one, other] = lines_of(*directory_, key_of(fingerprint));
            __builtin_prefetch(one);
            __builtin_prefetch(other);
        }

        [[nodiscard]] series_mark mark_of(std::uint64_t fingerprint) const noexcept {
            const std::uint64_t key = key_of(fingerprint);
            const entry found = find(*directory_, key);
            if (found.key == nullptr) return {};
            const std::uint64_t bits = found.mark->load(std::memory_order_acquire);
            return found.key->load(std::memory_order_relaxed) == key ? mark_in(bits) : series_mark{};
        }

        /// Whether the series was seen since `from`, and is active. If so, notes that it was seen at `now`.
        /// @return false, too, while the entry moves, or is outdated: then ask under the commit lock.
        [[nodiscard]] bool touch(std::uint64_t fingerprint, minute_number from, minute_number now) const noexcept {
            const std::uint64_t key = key_of(fingerprint);
            const entry found = find(*directory_, key);
            if (found.key == nullptr) return false;
            for (std::uint64_t before = found.mark->load(std::memory_order_acquire);;) {
                const auto seen = static_cast<minute_number>(before);
                if (seen < from || !counts(before) || found.key->load(std::memory_order_relaxed) != key) return false;
                if (seen >= now) return true;
                if ((before & moving_bit) != 0) return false;
                const std::uint64_t after = (before & ~seen_bits) | now;
                if (found.mark->compare_exchange_weak(before, after, std::memory_order_acquire)) return true;
            }
        }
    };
    [[nodiscard]] view read() const noexcept { return view{*directory_.load(std::memory_order_acquire)}; }

    /// Most series that find_room() takes at once.
    static constexpr std::size_t keys_max = 5;
    /// Whether these series fit together. May move entries to make room, but none into a line of these series: what one
    /// counts on is not used up for another.
    /// @return false if a partition has to grow first, see plan_for_room().
    [[nodiscard]] bool find_room(std::span<const std::uint64_t> fingerprints) noexcept;
    [[nodiscard]] bool find_room(std::uint64_t fingerprint) noexcept { return find_room({&fingerprint, 1}); }
    /// Enters a series, or changes its mark; `seen` never falls. Precondition for a series that is not there:
    /// find_room().
    void insert(std::uint64_t fingerprint, const series_mark& mark) noexcept;
    /// The shared store knows the series now: as it was last seen, and in the hour before that.
    struct stored_in {
        bool last = false;
        bool before = false;
    };
    void mark_told(std::uint64_t fingerprint, stored_in now) noexcept;
    /// The series is not active any more. @return the combination that it counted in; 0 if it was not active.
    [[nodiscard]] combination_number deactivate(std::uint64_t fingerprint) noexcept;
    /// Ends the activity of series of one partition that were last seen before `idle_before`, of ended_at_once at most.
    /// The table need not keep an entry until then: see forget_before().
    /// @param outdates whether entries become outdated, too.
    /// @param next as visit_some(). @param ended gets the combination of each. @return as visit_some().
    static constexpr std::size_t ended_at_once = 512;
    template <class Ended>
    bool end_activity_some(std::uint64_t& next, minute_number idle_before, bool outdates, Ended ended) noexcept;

    /// Precondition: no active series was last seen before.
    void forget_before(minute_number since) noexcept { live_since_.store(since, std::memory_order_relaxed); }
    [[nodiscard]] minute_number live_since() const noexcept { return live_since_.load(std::memory_order_relaxed); }

    /// Enters what an empty table is made with, and grows as needed. Nobody else has the table yet. Throws
    /// std::bad_alloc.
    void fill_in(std::uint64_t fingerprint, const series_mark& mark);

    /// Replaces the combination of every active series. Nobody else has the table yet.
    template <class Map>
    void map_combinations(Map map);

    /// Calls visit(fingerprint, mark) for the live entries of one partition.
    /// @param next a fingerprint in it; advanced to the next partition. @return whether there is one.
    template <class Visit>
    bool visit_some(std::uint64_t& next, Visit visit) const;

    /// Memory of the leaves, used or kept for growth, and of the directory. Threads: any.
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }

    // --- Growth. plan(), prepare() and apply() share the work, so that the lock is held for some 100 microseconds.

    class rewrite;
    /// A fingerprint of each partition that plan() may find a rewrite for: nearly full, or not counted for long.
    [[nodiscard]] std::vector<std::uint64_t> doubtful();
    /// @return null if the partition of the fingerprint is neither nearly full nor nearly empty.
    [[nodiscard]] std::unique_ptr<rewrite> plan(std::uint64_t fingerprint);
    /// For the series that find_room() failed for. @param expected so many series in all will come soon, about.
    [[nodiscard]] std::unique_ptr<rewrite> plan_for_room(std::uint64_t expected = 0);
    /// Makes the memory. Throws std::bad_alloc; then nothing has changed.
    void prepare(rewrite& of);
    /// Takes the memory back, if apply() does not follow.
    void abandon(rewrite& of) noexcept;
    /// @return false if the entries do not fit; then prepare() makes more.
    [[nodiscard]] bool apply(rewrite& of) noexcept;

    /// Frees what apply() has replaced. Call it when all views are gone that were there then.
    void free_retired() noexcept;

    ~series_table();

  private:
    static constexpr std::uint64_t seen_bits = 0xffffffff;
    static constexpr std::uint64_t before_bit = std::uint64_t{1} << 32;
    static constexpr std::uint64_t day_bit = std::uint64_t{1} << 33;
    /// The entry's mark is copied to another entry: whoever wants to change it asks there.
    static constexpr std::uint64_t moving_bit = std::uint64_t{1} << 34;
    static constexpr std::uint64_t untold_bit = std::uint64_t{1} << 35;
    static constexpr std::uint64_t untold_before_bit = std::uint64_t{1} << 36;
    static constexpr unsigned combination_shift = 37;
    static constexpr std::uint64_t combination_bits = std::uint64_t{series_mark::combination_max} << combination_shift;
    /// The highest bit, so counts() is one comparison.
    static constexpr std::uint64_t outdated_bit = std::uint64_t{1} << 63;

    static combination_number combination_in(std::uint64_t bits) noexcept {
        return static_cast<combination_number>((bits & combination_bits) >> combination_shift);
    }
    /// Whether the entry is active and not outdated.
    static bool counts(std::uint64_t bits) noexcept {
        return static_cast<std::int64_t>(bits) >= std::int64_t{1} << combination_shift;
    }
    static series_mark mark_in(std::uint64_t bits) noexcept {
        return {.seen = static_cast<minute_number>(bits),
                .was_before = (bits & before_bit) != 0,
                .is_day_key = (bits & day_bit) != 0,
                .combination = combination_in(bits),
                .is_outdated = (bits & outdated_bit) != 0,
                .is_untold = (bits & untold_bit) != 0,
                .is_untold_before = (bits & untold_before_bit) != 0};
    }
    static std::uint64_t bits_of(const series_mark& mark) noexcept {
        return mark.seen | (mark.was_before ? before_bit : 0) | (mark.is_day_key ? day_bit : 0) |
               (mark.is_untold ? untold_bit : 0) | (mark.is_untold_before ? untold_before_bit : 0) |
               std::uint64_t{mark.combination} << combination_shift | (mark.is_outdated ? outdated_bit : 0);
    }
    /// The key 0 is an empty entry, so the fingerprint 0 has the key 1.
    static std::uint64_t key_of(std::uint64_t fingerprint) noexcept { return fingerprint == 0 ? 1 : fingerprint; }

    /// Source: Lemire, "Fast Random Integer Generation in an Interval", 2019.
    static line* line_at(const partition& of, std::uint64_t lines, std::uint64_t hash) noexcept {
        const auto index = static_cast<std::size_t>((hash & 0xffffffff) * lines >> 32);
        return of.leaves[index / lines_per_leaf].load(std::memory_order_acquire) + index % lines_per_leaf;
    }
    /// The lines are chosen by the low half of the fingerprint and by the high half of its product with an odd number.
    static line_pair lines_in(const partition& of, std::uint64_t key) noexcept {
        const std::uint64_t lines = of.leaf_count.load(std::memory_order_acquire) * lines_per_leaf;
        return {line_at(of, lines, key), line_at(of, lines, key * 0x9e3779b97f4a7c15 >> 32)};
    }
    static line_pair lines_of(const directory& in, std::uint64_t key) noexcept {
        return lines_in(in.places[in.place_of(key)], key);
    }
    /// A writer that takes an entry for another series sets the key to 0 before it writes the mark. So a mark belongs
    /// to the key if the key is still there after the mark was read.
    static entry find_in(const line_pair& lines, std::uint64_t key) noexcept {
        for (line* const in : {lines.one, lines.other})
            for (std::size_t way = 0; way < ways; ++way)
                if (in->keys[way].load(std::memory_order_acquire) == key) return {&in->keys[way], &in->marks[way]};
        return {};
    }
    static entry find(const directory& in, std::uint64_t key) noexcept { return find_in(lines_of(in, key), key); }

    [[nodiscard]] bool is_free(const line& in, std::size_t way) const noexcept {
        return in.keys[way].load(std::memory_order_relaxed) == 0 ||
               static_cast<minute_number>(in.marks[way].load(std::memory_order_relaxed)) < live_since();
    }
    [[nodiscard]] std::size_t free_in(const line& in) const noexcept;
    [[nodiscard]] word* put(line& into, std::uint64_t key, std::uint64_t bits) const noexcept;
    [[nodiscard]] word* put(const partition& in, std::uint64_t key, std::uint64_t bits) const noexcept;
    using wanted_lines = std::span<line* const>;
    [[nodiscard]] bool free_one(const partition& in, line& full, unsigned depth, wanted_lines wanted) const noexcept;
    [[nodiscard]] bool free_one(const partition& in, const line_pair& lines, wanted_lines wanted) const noexcept;
    [[nodiscard]] directory& current() const noexcept { return *directory_.load(std::memory_order_relaxed); }
    [[nodiscard]] partition& partition_of(std::uint64_t fingerprint) const noexcept;
    [[nodiscard]] std::uint32_t count(const partition& of) const noexcept;
    template <class Visit>
    void visit_live(const partition& of, Visit visit) const;
    /// @return whether there is a partition after this one. @param next a fingerprint in it.
    static bool advance(const directory& all, std::size_t place, std::uint64_t& next) noexcept;
    enum class filling : std::uint8_t { direct, with_moves, does_not_fit };
    filling fill(rewrite& with, const partition& old, unsigned bits) noexcept;
    static void copy(const partition& from, partition& to) noexcept;
    /// Leaves that the series of one partition fill as far as they should.
    static std::size_t leaves_for(std::uint64_t series) noexcept;
    void publish(rewrite& done, std::size_t place, unsigned bits) noexcept;
    void give_leaves(partition& to, std::size_t count);
    line* take_leaf();
    void note_bytes() noexcept;

    std::atomic<directory*> directory_{nullptr};
    std::unique_ptr<directory> owned_;
    std::atomic<minute_number> live_since_{0};
    /// What find_room() failed for: the first has no room.
    std::array<std::uint64_t, keys_max> wants_room_{1};
    std::size_t keys_wanted_ = 1;

    // Under the growth lock.
    std::size_t next_counted_ = 0;
    std::vector<page_memory> arenas_;
    std::size_t arena_bytes_ = 0;  ///< used, or kept for growth
    // Of the last arena:
    char* next_leaf_ = nullptr;
    std::size_t unused_leaves_ = 0;  ///< whose memory is there
    std::size_t unused_bytes_ = 0;   ///< behind those, reserved only
    std::vector<line*> free_leaves_;
    std::vector<line*> retired_leaves_;
    std::vector<std::unique_ptr<directory>> retired_;
    std::atomic<std::size_t> bytes_{0};
};

/// A partition that gets other leaves, or becomes 2, 4, ... partitions.
class series_table::rewrite {
    friend class series_table;

    std::uint64_t fingerprint_;  ///< one in the partition
    unsigned divisions_ = 0;     ///< further bits that the new partitions are chosen by
    std::size_t leaves_;         ///< of each of them
    std::vector<partition> filled_{};
    std::vector<word*> copies_{};  ///< the new marks, in the order of the old entries
    std::unique_ptr<directory> wider_{};

    /// @param leaves of all new partitions; they may get more each, or fewer if those were too many to make at once.
    rewrite(std::uint64_t fingerprint, std::size_t leaves) : fingerprint_(fingerprint), leaves_(leaves) {
        for (; leaves_ > leaves_max && divisions_ < divisions_max; ++divisions_) leaves_ = (leaves_ + 1) / 2;
        if (divisions_ > 0) leaves_ = std::clamp(leaves_, leaves_of_half, leaves_max);
    }

    static constexpr std::size_t leaves_of_half = (leaves_max + 1) / 2;
    /// After the entries did not fit.
    void want_more() noexcept {
        if (leaves_ < leaves_max) {
            ++leaves_;
        } else {
            ++divisions_;
            leaves_ = leaves_of_half;
        }
    }
    /// @param bits that the old partition is chosen by.
    [[nodiscard]] partition& part_of(std::uint64_t key, unsigned bits) noexcept {
        return filled_[divisions_ == 0 ? 0 : key << bits >> (64 - divisions_)];
    }
};

template <class Visit>
void series_table::visit_live(const partition& of, Visit visit) const {
    for (std::size_t leaf = 0; leaf < of.leaf_count.load(std::memory_order_relaxed); ++leaf) {
        line* const lines = of.leaves[leaf].load(std::memory_order_relaxed);
        for (std::size_t i = 0; i < lines_per_leaf; ++i)
            for (std::size_t way = 0; way < ways; ++way)
                if (!is_free(lines[i], way))
                    visit(lines[i].keys[way].load(std::memory_order_relaxed), lines[i].marks[way]);
    }
}

template <class Map>
void series_table::map_combinations(Map map) {
    const directory& all = current();
    for (std::size_t place = 0; place < all.places.size(); place += all.span_of(place))
        visit_live(all.places[place], [&](std::uint64_t, word& mark) {
            series_mark changed = mark_in(mark.load(std::memory_order_relaxed));
            if (changed.combination == 0) return;
            changed.combination = map(changed.combination);
            changed.is_outdated = changed.combination != 0;
            mark.store(bits_of(changed), std::memory_order_relaxed);
        });
}

template <class Ended>
bool series_table::end_activity_some(std::uint64_t& next, minute_number idle_before, bool outdates,
                                     Ended ended) noexcept {
    const directory& all = current();
    const std::size_t place = all.first_of(all.place_of(next));
    std::size_t count = 0;
    visit_live(all.places[place], [&](std::uint64_t, word& mark) {
        std::uint64_t before = mark.load(std::memory_order_relaxed);
        while (combination_in(before) != 0 && count < ended_at_once) {  // a request may touch it meanwhile
            const bool is_idle = static_cast<minute_number>(before) < idle_before;
            if (!is_idle && !outdates) break;
            const std::uint64_t after = is_idle ? before & ~(combination_bits | outdated_bit) : before | outdated_bit;
            if (!mark.compare_exchange_weak(before, after, std::memory_order_relaxed)) continue;
            if (is_idle) {
                ended(combination_in(before));
                ++count;
            }
            break;
        }
    });
    if (count == ended_at_once) return true;  // the same partition once more
    return advance(all, place, next);
}

template <class Visit>
bool series_table::visit_some(std::uint64_t& next, Visit visit) const {
    const directory& all = current();
    const std::size_t place = all.first_of(all.place_of(next));
    visit_live(all.places[place],
               [&](std::uint64_t key, const word& mark) { visit(key, mark_in(mark.load(std::memory_order_relaxed))); });
    return advance(all, place, next);
}

}  // namespace seriesgate
