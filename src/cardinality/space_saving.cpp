#include "cardinality/space_saving.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "core/text.hpp"

namespace seriesgate {
namespace {

/// Cuts to text_max bytes, between two characters.
std::string_view shortened(std::string_view text) {
    if (text.size() <= space_saving::text_max) return text;
    std::size_t end = space_saving::text_max;
    while (end > space_saving::text_max - 4 && continues_character(text[end])) --end;
    return text.substr(0, end);
}

std::string load_text(state_decoder& in) {
    std::string text = in.text();
    if (text.size() > space_saving::text_max) in.fail();
    return text;
}

}  // namespace

space_saving::space_saving(std::size_t counters_max) : counters_max_(counters_max) {
    assert(counters_max != 0);
}

space_saving::counted space_saving::add(std::uint64_t key, const entry_name& name, std::uint64_t series,
                                        time_point now) {
    total_ += series;
    const auto known = places_.find(key);
    std::uint32_t slot = 0;
    if (known != places_.end()) {
        slot = known->second;
    } else if (entries_.size() < counters_max_) {
        slot = append(key, {.first_seen = now});
        rename(slot, key, name, now);
    } else {
        slot = heap_.front();
        places_.erase(keys_[slot]);
        rename(slot, key, name, now);
    }
    entries_[slot].series += series;
    entries_[slot].last_seen = now;
    sink(at_[slot]);
    return {.slot = slot, .is_new = known == places_.end()};
}

std::uint64_t space_saving::error_max() const noexcept {
    return entries_.size() < counters_max_ ? 0 : series_at(0);
}

void space_saving::merge(const space_saving& other) {
    struct one {
        std::uint64_t key = 0;
        top_entry is{};
    };
    std::vector<one> all;
    all.reserve(entries_.size() + other.entries_.size());
    const std::uint64_t ours_max = error_max(), theirs_max = other.error_max();
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        one& each = all.emplace_back(one{.key = keys_[i], .is = std::move(entries_[i])});
        const auto found = other.places_.find(each.key);
        const bool is_theirs = found != other.places_.end();
        const top_entry* const theirs = is_theirs ? &other.entries_[found->second] : nullptr;
        each.is.series += is_theirs ? theirs->series : theirs_max;
        each.is.error += is_theirs ? theirs->error : theirs_max;
        if (!is_theirs) continue;
        each.is.first_seen = std::min(each.is.first_seen, theirs->first_seen);
        each.is.last_seen = std::max(each.is.last_seen, theirs->last_seen);
    }
    for (std::size_t i = 0; i < other.entries_.size(); ++i) {
        if (places_.contains(other.keys_[i])) continue;
        one& each = all.emplace_back(one{.key = other.keys_[i], .is = other.entries_[i]});
        each.is.series += ours_max;
        each.is.error += ours_max;
    }
    std::ranges::sort(all, [](const one& a, const one& b) { return a.is.series > b.is.series; });
    if (all.size() > counters_max_) all.resize(counters_max_);
    const std::uint64_t total = total_ + other.total_;
    clear();
    total_ = total;
    for (one& each : all) append(each.key, std::move(each.is));
}

void space_saving::clear() noexcept {
    total_ = 0;
    entries_.clear();
    keys_.clear();
    heap_.clear();
    at_.clear();
    places_.clear();
}

void space_saving::save(state_encoder& out) const {
    out.count(total_, series_max);
    out.number(static_cast<std::uint64_t>(entries_.size()));
    for (std::size_t slot = 0; slot < entries_.size(); ++slot) {
        const top_entry& each = entries_[slot];
        out.number(keys_[slot]);
        out.text(each.tenant);
        out.text(each.value);
        out.text(each.detail);
        out.count(each.series, series_max);
        out.count(each.error, series_max);
        out.time(each.first_seen);
        out.time(each.last_seen);
    }
}

void space_saving::load(state_decoder& in) {
    clear();
    total_ = in.count(series_max);
    const std::uint64_t count = in.count(counters_max_);
    for (std::uint64_t i = 0; i < count && in.good(); ++i) {
        const auto key = in.number<std::uint64_t>();
        top_entry each{.tenant = load_text(in), .value = load_text(in), .detail = load_text(in)};
        each.series = in.count(series_max);
        each.error = in.count(series_max);
        each.first_seen = in.time<time_point>();
        each.last_seen = in.time<time_point>();
        if (each.error > each.series || places_.contains(key)) in.fail();
        if (in.good()) append(key, std::move(each));
    }
}

std::uint32_t space_saving::append(std::uint64_t key, top_entry as) {
    make_room();
    const auto slot = static_cast<std::uint32_t>(entries_.size());
    entries_.push_back(std::move(as));
    keys_.push_back(key);
    heap_.push_back(slot);
    at_.push_back(slot);
    places_[key] = slot;
    rise(slot);
    return slot;
}

/// Grows all containers or none: without memory the counts stay consistent.
void space_saving::make_room() {
    if (entries_.size() < std::min({entries_.capacity(), keys_.capacity(), heap_.capacity(), at_.capacity()}) &&
        places_.size() < places_.max_load())
        return;
    const std::size_t room = std::min(counters_max_, 2 * entries_.size() + 8);
    keys_.reserve(room);
    heap_.reserve(room);
    at_.reserve(room);
    places_.reserve(room);
    entries_.reserve(room);
}

/// Gives the counter to another name. All its series may belong to earlier names, so they become the error.
void space_saving::rename(std::uint32_t slot, std::uint64_t key, const entry_name& name, time_point now) {
    top_entry& as = entries_[slot];
    as.tenant = shortened(name.tenant);
    as.value = shortened(name.value);
    as.detail = shortened(name.detail);
    as.error = as.series;
    as.first_seen = now;
    keys_[slot] = key;
    places_[key] = slot;
}

void space_saving::sink(std::size_t at) noexcept {
    for (;;) {
        const std::size_t left = 2 * at + 1;
        if (left >= heap_.size()) return;
        const bool is_right = left + 1 < heap_.size() && series_at(left + 1) < series_at(left);
        const std::size_t least = is_right ? left + 1 : left;
        if (series_at(at) <= series_at(least)) return;
        swap(at, least);
        at = least;
    }
}

void space_saving::rise(std::size_t at) noexcept {
    while (at != 0 && series_at(at) < series_at((at - 1) / 2)) {
        swap(at, (at - 1) / 2);
        at = (at - 1) / 2;
    }
}

void space_saving::swap(std::size_t one, std::size_t other) noexcept {
    std::swap(heap_[one], heap_[other]);
    at_[heap_[one]] = static_cast<std::uint32_t>(one);
    at_[heap_[other]] = static_cast<std::uint32_t>(other);
}

}  // namespace seriesgate
