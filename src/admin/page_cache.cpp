#include "admin/page_cache.hpp"

#include <numeric>

namespace seriesgate {
namespace {

std::size_t bytes_of(const page_key& key) {
    const auto bytes = [](const std::optional<std::string>& text) { return text ? text->capacity() : 0; };
    const api_question& asked = key.asked;
    return sizeof key + bytes(key.shown.tenant) + bytes(key.shown.limit) + bytes(asked.tenant) + bytes(asked.name) +
           asked.match.capacity() + asked.series.capacity();
}

}  // namespace

bool page_cache::has_room() {
    std::erase_if(entries_, [](const entry& each) { return each.text.expired(); });
    const auto held = std::accumulate(entries_.begin(), entries_.end(), std::size_t{0},
                                      [](std::size_t sum, const entry& each) { return sum + each.bytes; });
    return held < held_bytes_max;
}

page_text page_cache::newest(const page_key& key, time_point now) const {
    for (auto each = entries_.rbegin(); each != entries_.rend() && now - each->made <= age_max; ++each) {
        if (each->key != key) continue;
        if (auto text = each->text.lock()) return text;
    }
    return nullptr;
}

void page_cache::put(const page_key& key, const page_text& text, time_point now) {
    entries_.push_back({.key = key, .text = text, .bytes = text->capacity() + bytes_of(key), .made = now});
}

}  // namespace seriesgate
