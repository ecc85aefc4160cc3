#include "limit/ledger.hpp"

#include <cassert>
#include <utility>

namespace seriesgate {

std::vector<late_keys::entry> late_keys::begin() noexcept {
    writing_ = true;
    return std::exchange(entries_, {});
}

void late_keys::write(std::uint64_t key, in_windows into) {
    if (entries_.size() < count_max) {
        entries_.push_back({.key = key, .into = into});
    } else {
        writing_ = false;
    }
}

late_keys::list late_keys::end() noexcept {
    return {.entries = std::exchange(entries_, {}), .complete = std::exchange(writing_, false)};
}

limit_number ledger::limit_at(std::size_t place, const rule_selections::one& selection) const {
    if (!is_limit_place(place, selection)) return place == tenant_place ? tenant_limit : global_limit;
    return limit_numbers[selection.limit_index(selected_at(place, selection))];
}

void ledger::remember(std::uint64_t key, in_windows into) {
    if (into.hour) hour->insert(key);
    if (into.day) day->insert(key);
    late.add(key, into);
    assert(!into.hour || hour->contains(key));
    assert(!into.day || day->contains(key));
}

void catch_up(guarded<ledger>& counts) {
    for (;;) {
        const auto held = counts.lock();
        if (!held->book.is_behind()) return;
        held->book.catch_up(told_per_piece);
    }
}

}  // namespace seriesgate
