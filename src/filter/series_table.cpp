#include "filter/series_table.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

namespace seriesgate {
namespace {

/// Addresses are reserved in arenas, and memory is taken from them a huge page at a time.
constexpr std::size_t arena_bytes_min = std::size_t{4} << 20, arena_bytes_max = std::size_t{64} << 20;
constexpr unsigned bits_min = 3;
/// Partitions counted anew at once, when an hour has ended.
constexpr std::size_t counted_at_once = 4;

/// Parts of a partition's entries, in percent: above the first it grows, below the second it shrinks, to the third.
/// With two lines to choose from and three moves, entries find room up to about 90 %.
constexpr std::size_t full_part = 78, empty_part = 30, wanted_part = 65;
constexpr unsigned moves_max = 3;

}  // namespace

std::size_t series_table::leaves_for(std::uint64_t series) noexcept {
    return series * 100 / wanted_part / entries_per_leaf + 1;
}

series_table::directory::directory(unsigned of_bits)
    : bits(of_bits), places(std::size_t{1} << of_bits), kept(std::size_t{1} << of_bits) {}

series_table::series_table(std::uint64_t expected) {
    constexpr std::uint64_t in_partition = 4 * entries_per_leaf * wanted_part / 100;
    const auto bits = static_cast<unsigned>(std::bit_width(expected / in_partition));
    owned_ = std::make_unique<directory>(std::max(bits_min, bits));
    for (partition& each : owned_->places)
        give_leaves(each, std::min(leaves_for(expected >> owned_->bits), leaves_max));
    for (directory::upkeep& each : owned_->kept) each.bits = static_cast<std::uint8_t>(owned_->bits);
    directory_.store(owned_.get(), std::memory_order_release);
    note_bytes();
}

series_table::~series_table() = default;

// --- Entries.

std::size_t series_table::free_in(const line& in) const noexcept {
    std::size_t found = 0;
    for (std::size_t way = 0; way < ways; ++way) found += is_free(in, way) ? 1 : 0;
    return found;
}

/// @return the mark, or null if the line is full.
series_table::word* series_table::put(line& into, std::uint64_t key, std::uint64_t bits) const noexcept {
    for (std::size_t way = 0; way < ways; ++way) {
        if (!is_free(into, way)) continue;
        into.keys[way].store(0, std::memory_order_relaxed);  // see find_in()
        into.marks[way].store(bits, std::memory_order_release);
        into.keys[way].store(key, std::memory_order_release);
        return &into.marks[way];
    }
    return nullptr;
}

/// Writes a series that is not there into the emptier of its lines. @return its mark, or null if both are full.
series_table::word* series_table::put(const partition& in, std::uint64_t key, std::uint64_t bits) const noexcept {
    const auto [one, other] = lines_in(in, key);
    return put(free_in(*one) >= free_in(*other) ? *one : *other, key, bits);
}

/// Moves an entry to its other line, where the same may have to happen first.
/// @param depth most entries that are moved.
/// @param wanted lines that get no entry by it. @return false if that did not suffice.
bool series_table::free_one(const partition& in, line& full, unsigned depth, wanted_lines wanted) const noexcept {
    for (std::size_t way = 0; way < ways; ++way) {
        if (is_free(full, way)) continue;
        const std::uint64_t key = full.keys[way].load(std::memory_order_relaxed);
        const auto [one, other] = lines_in(in, key);
        line& into = one == &full ? *other : *one;
        if (&into == &full || std::ranges::find(wanted, &into) != wanted.end()) continue;
        if (free_in(into) == 0 && (depth == 1 || !free_one(in, into, depth - 1, wanted))) continue;
        if (full.keys[way].load(std::memory_order_relaxed) != key) return free_in(full) != 0;  // moved meanwhile
        const std::uint64_t bits = full.marks[way].fetch_or(moving_bit, std::memory_order_relaxed);
        [[maybe_unused]] const word* const moved = put(into, key, bits);
        assert(moved != nullptr && (bits & moving_bit) == 0);
        full.keys[way].store(0, std::memory_order_release);
        return true;
    }
    return false;
}

/// Makes room for one more entry than there is. @return false if the partition has to grow.
bool series_table::free_one(const partition& in, const line_pair& lines, wanted_lines wanted) const noexcept {
    for (unsigned depth = 1; depth <= moves_max; ++depth)
        for (line* const each : {lines.one, lines.other})
            if (free_one(in, *each, depth, wanted)) return true;
    return false;
}

series_table::partition& series_table::partition_of(std::uint64_t fingerprint) const noexcept {
    directory& all = current();
    return all.places[all.first_of(all.place_of(fingerprint))];
}

bool series_table::find_room(std::span<const std::uint64_t> fingerprints) noexcept {
    const std::size_t count = fingerprints.size();
    assert(count > 0 && count <= keys_max);
    std::array<line*, 2 * keys_max> wanted{};
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t key = key_of(fingerprints[i]);
        const auto [one, other] = lines_in(partition_of(key), key);
        wanted[2 * i] = one;
        wanted[2 * i + 1] = other;
    }
    for (std::size_t i = 0; i < count; ++i) {
        const line_pair lines{wanted[2 * i], wanted[2 * i + 1]};
        const partition& in = partition_of(key_of(fingerprints[i]));
        // Each frees an entry in lines that get none, so it ends.
        while (free_in(*lines.one) + (lines.one == lines.other ? 0 : free_in(*lines.other)) < count)
            if (!free_one(in, lines, std::span{wanted}.first(2 * count))) {
                keys_wanted_ = count;
                std::ranges::copy(fingerprints, wants_room_.begin());
                std::swap(wants_room_[0], wants_room_[i]);
                return false;
            }
    }
    return true;
}

void series_table::insert(std::uint64_t fingerprint, const series_mark& mark) noexcept {
    const std::uint64_t key = key_of(fingerprint);
    partition& in = partition_of(key);
    const entry known = find_in(lines_in(in, key), key);
    bool is_new = known.key == nullptr;
    if (is_new) {
        [[maybe_unused]] const word* const written = put(in, key, bits_of(mark));
        assert(written != nullptr);
    } else {
        std::uint64_t before = known.mark->load(std::memory_order_relaxed);
        for (;;) {  // a request may touch it meanwhile
            series_mark after = mark;
            after.seen = std::max(mark.seen, static_cast<minute_number>(before));
            if (known.mark->compare_exchange_weak(before, bits_of(after), std::memory_order_relaxed)) break;
        }
        is_new = static_cast<minute_number>(before) < live_since();
    }
    if (is_new) in.live.fetch_add(1, std::memory_order_relaxed);
}

void series_table::mark_told(std::uint64_t fingerprint, stored_in now) noexcept {
    const entry known = find(current(), key_of(fingerprint));
    if (known.key == nullptr) return;
    known.mark->fetch_and(~((now.last ? untold_bit : 0) | (now.before ? untold_before_bit : 0)),
                          std::memory_order_relaxed);
}

combination_number series_table::deactivate(std::uint64_t fingerprint) noexcept {
    const std::uint64_t key = key_of(fingerprint);
    const entry known = find_in(lines_in(partition_of(key), key), key);
    if (known.key == nullptr) return 0;
    return combination_in(known.mark->fetch_and(~(combination_bits | outdated_bit), std::memory_order_relaxed));
}

void series_table::fill_in(std::uint64_t fingerprint, const series_mark& mark) {
    while (!find_room(fingerprint)) {
        const auto wider = plan_for_room();
        do prepare(*wider);
        while (!apply(*wider));
        free_retired();
    }
    insert(fingerprint, mark);
}

// --- Growth.

bool series_table::advance(const directory& all, std::size_t place, std::uint64_t& next) noexcept {
    const std::size_t after = place + all.span_of(place);
    next = std::uint64_t{after} << (64 - all.bits);
    return after != all.places.size();
}

std::uint32_t series_table::count(const partition& of) const noexcept {
    std::size_t found = 0;
    for (std::size_t leaf = 0; leaf < of.leaf_count.load(std::memory_order_relaxed); ++leaf) {
        const line* const lines = of.leaves[leaf].load(std::memory_order_relaxed);
        for (std::size_t i = 0; i < lines_per_leaf; ++i) found += ways - free_in(lines[i]);
    }
    return static_cast<std::uint32_t>(found);
}

std::vector<std::uint64_t> series_table::doubtful() {
    std::vector<std::uint64_t> found;
    const directory& all = current();
    const auto note = [&](std::size_t place) { found.push_back(std::uint64_t{place} << (64 - all.bits)); };
    for (std::size_t place = 0; place < all.places.size(); place += all.span_of(place)) {
        const std::size_t entries = all.places[place].leaf_count.load(std::memory_order_relaxed) * entries_per_leaf;
        if (all.places[place].live.load(std::memory_order_relaxed) * 100 > entries * full_part) note(place);
    }
    for (std::size_t looked = 0; looked < counted_at_once; ++looked) {
        if (next_counted_ >= all.places.size()) next_counted_ = 0;
        const std::size_t place = all.first_of(next_counted_);
        if (all.kept[place].counted_since != live_since()) note(place);
        next_counted_ = place + all.span_of(place);
    }
    return found;
}

std::unique_ptr<series_table::rewrite> series_table::plan(std::uint64_t fingerprint) {
    directory& all = current();
    const std::size_t place = all.first_of(all.place_of(fingerprint));
    partition& one = all.places[place];
    if (all.kept[place].counted_since != live_since()) {
        one.live.store(count(one), std::memory_order_relaxed);
        all.kept[place].counted_since = live_since();
    }
    const std::size_t leaves = one.leaf_count.load(std::memory_order_relaxed);
    const std::size_t live = one.live.load(std::memory_order_relaxed);
    std::size_t wanted = leaves;
    if (live * 100 > leaves * entries_per_leaf * full_part) wanted = leaves + 1;
    if (live * 100 < leaves * entries_per_leaf * empty_part) wanted = leaves_for(live);
    return wanted == leaves ? nullptr : std::unique_ptr<rewrite>{new rewrite{fingerprint, wanted}};
}

std::unique_ptr<series_table::rewrite> series_table::plan_for_room(std::uint64_t expected) {
    const auto keys = wants_room_;                                       // a copy, because find_room() notes them again
    if (find_room(std::span{keys}.first(keys_wanted_))) return nullptr;  // it has grown since
    const std::uint64_t wanting = wants_room_[0];
    const std::size_t leaves = partition_of(key_of(wanting)).leaf_count.load(std::memory_order_relaxed);
    const directory& all = current();
    constexpr std::uint64_t expected_max = std::uint64_t{1} << 40;
    const std::uint64_t here =
        std::min(expected, expected_max) >> all.kept[all.first_of(all.place_of(key_of(wanting)))].bits;
    const std::size_t wanted = std::max(leaves + std::max<std::size_t>(1, leaves / 2), leaves_for(here));
    return std::unique_ptr<rewrite>{new rewrite{key_of(wanting), wanted}};
}

void series_table::give_leaves(partition& to, std::size_t count) {
    std::size_t has = to.leaf_count.load(std::memory_order_relaxed);
    for (; has < count; ++has) {
        to.leaves[has].store(take_leaf(), std::memory_order_relaxed);
        to.leaf_count.store(static_cast<std::uint32_t>(has + 1), std::memory_order_relaxed);
    }
    // A view may join another number of leaves with these: it finds nothing then, but there is memory.
    for (; has < leaves_max; ++has) to.leaves[has].store(to.leaves[0].load(std::memory_order_relaxed));
}

series_table::line* series_table::take_leaf() {
    constexpr std::size_t leaf_bytes = lines_per_leaf * sizeof(line);
    if (!free_leaves_.empty()) {
        line* const taken = free_leaves_.back();
        free_leaves_.pop_back();
        std::memset(static_cast<void*>(taken), 0, leaf_bytes);
        return taken;
    }
    constexpr std::size_t huge_page = page_memory::huge_page_bytes;
    if (unused_leaves_ == 0) {
        free_leaves_.reserve((arena_bytes_ + huge_page) / leaf_bytes);  // for free_retired()
        if (unused_bytes_ == 0) {
            const std::size_t size = std::clamp(arena_bytes_ & ~(huge_page - 1), arena_bytes_min, arena_bytes_max);
            void* begin = arenas_.emplace_back(size + huge_page).data();
            std::size_t space = size + huge_page;
            next_leaf_ = static_cast<char*>(std::align(huge_page, size, begin, space));
            unused_bytes_ = size;
        }
        page_memory::populate(next_leaf_, huge_page);
        unused_leaves_ = huge_page / leaf_bytes;
        unused_bytes_ -= huge_page;
        arena_bytes_ += huge_page;
    }
    --unused_leaves_;
    return reinterpret_cast<line*>(std::exchange(next_leaf_, next_leaf_ + leaf_bytes));
}

void series_table::prepare(rewrite& of) try {
    const directory& all = current();
    const unsigned bits = all.kept[all.place_of(of.fingerprint_)].bits + of.divisions_;
    // A damaged state: more divisions, or a directory larger than the leaves.
    if (of.divisions_ > divisions_max || sizeof(partition) << bits > arena_bytes_) throw std::bad_alloc{};
    if (of.filled_.size() != std::size_t{1} << of.divisions_) {
        abandon(of);
        of.filled_ = std::vector<partition>(std::size_t{1} << of.divisions_);
    }
    for (partition& each : of.filled_) give_leaves(each, of.leaves_);
    if (bits > all.bits && (!of.wider_ || of.wider_->bits < bits)) of.wider_ = std::make_unique<directory>(bits);
    of.copies_.resize(leaves_max * entries_per_leaf);
    retired_leaves_.reserve(retired_leaves_.size() + leaves_max);
    retired_.reserve(retired_.size() + 1);
    note_bytes();
} catch (const std::bad_alloc&) {
    abandon(of);
    throw;
}

void series_table::abandon(rewrite& of) noexcept {
    for (partition& each : of.filled_)
        for (std::size_t leaf = each.leaf_count.exchange(0); leaf-- > 0;) free_leaves_.push_back(each.leaves[leaf]);
}

/// Copies the live entries. Requests go on to touch the old ones.
series_table::filling series_table::fill(rewrite& with, const partition& old, unsigned bits) noexcept {
    filling done = filling::direct;
    std::size_t at = 0;
    visit_live(old, [&](std::uint64_t key, const word& mark) {
        partition& into = with.part_of(key, bits);
        word* copied = nullptr;
        while (done != filling::does_not_fit &&
               (copied = put(into, key, mark.load(std::memory_order_relaxed))) == nullptr) {
            const line_pair lines = lines_in(into, key);
            done =
                free_one(into, lines, std::array{lines.one, lines.other}) ? filling::with_moves : filling::does_not_fit;
        }
        with.copies_[at++] = copied;
        into.live.store(into.live.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    });
    return done;
}

bool series_table::apply(rewrite& of) noexcept {
    directory& all = current();
    const std::size_t place = all.first_of(all.place_of(of.fingerprint_));
    const unsigned bits = all.kept[place].bits;
    const partition& old = all.places[place];
    const filling done = fill(of, old, bits);
    if (done == filling::does_not_fit) {
        abandon(of);
        for (partition& each : of.filled_) each.live.store(0, std::memory_order_relaxed);
        of.want_more();
        return false;
    }
    // A request that finds the mark of an entry that has moved asks again; so this mark is the last.
    std::size_t at = 0;
    visit_live(old, [&](std::uint64_t key, word& mark) {
        word* copied = of.copies_[at++];
        if (done == filling::with_moves) copied = find_in(lines_in(of.part_of(key, bits), key), key).mark;
        copied->store(mark.fetch_or(moving_bit, std::memory_order_relaxed), std::memory_order_relaxed);
    });
    for (std::size_t leaf = 0; leaf < old.leaf_count.load(std::memory_order_relaxed); ++leaf)
        retired_leaves_.push_back(old.leaves[leaf].load(std::memory_order_relaxed));
    publish(of, place, bits);
    return true;
}

/// Views see the leaves before their number: see give_leaves().
void series_table::copy(const partition& from, partition& to) noexcept {
    for (std::size_t leaf = 0; leaf < leaves_max; ++leaf)
        to.leaves[leaf].store(from.leaves[leaf].load(std::memory_order_relaxed), std::memory_order_release);
    to.leaf_count.store(from.leaf_count.load(std::memory_order_relaxed), std::memory_order_release);
    to.live.store(from.live.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

void series_table::publish(rewrite& done, std::size_t place, unsigned bits) noexcept {
    directory& old = current();
    directory& all = done.wider_ ? *done.wider_ : old;
    if (done.wider_) {
        const unsigned wider = all.bits - old.bits;
        for (std::size_t i = 0; i < all.places.size(); ++i) {
            copy(old.places[i >> wider], all.places[i]);
            all.kept[i] = old.kept[i >> wider];
        }
        place <<= wider;
    }
    bits += done.divisions_;
    const std::size_t span = std::size_t{1} << (all.bits - bits);
    for (const partition& each : done.filled_)
        for (std::size_t i = 0; i < span; ++i, ++place) {
            copy(each, all.places[place]);
            all.kept[place] = {.bits = static_cast<std::uint8_t>(bits), .counted_since = live_since()};
        }
    if (!done.wider_) return;
    directory_.store(done.wider_.get(), std::memory_order_release);
    retired_.push_back(std::exchange(owned_, std::move(done.wider_)));
}

void series_table::free_retired() noexcept {
    free_leaves_.insert(free_leaves_.end(), retired_leaves_.begin(), retired_leaves_.end());
    retired_leaves_.clear();
    retired_.clear();
    note_bytes();
}

void series_table::note_bytes() noexcept {
    bytes_.store(arena_bytes_ + current().places.size() * sizeof(partition), std::memory_order_relaxed);
}

}  // namespace seriesgate
