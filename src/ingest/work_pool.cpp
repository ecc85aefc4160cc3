#include "ingest/work_pool.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "core/bytes.hpp"

namespace seriesgate {
namespace {

/// Bounds a translated body, whose symbols are filled in, by the size of other bodies.
std::size_t filled_in_max(const config& settings) {
    const bool translates = settings.upstream.protocol == upstream_protocol::v1;
    return translates ? std::min(settings.server.decoded_bytes_max, std::uint64_t{symbol_bytes_per_request_max})
                      : symbol_bytes_per_request_max;
}

}  // namespace

request_work::request_work(const config& settings, const hash_key& key, label_hash_cache& labels)
    : planning(key, settings.ignore_labels, filled_in_max(settings), &labels), asked(key), translate(key) {}

void request_work::shrink() {
    give_back(decoding, kept_buffer_bytes);
    planning.shrink();
    asked.shrink();
    give_back(rewritten, kept_buffer_bytes);
}

work_pool::work_pool(const config& settings, const hash_key& key, label_hash_cache& labels) {
    idle_pool made{.settings = settings, .key = key, .labels = labels};
    made.idle.reserve(idle_max);  // giving back must not fail
    idle_ = std::make_shared<idle_pool>(std::move(made));
}

work_pool::lease work_pool::take(inflight_lease& memory) {
    std::vector<std::unique_ptr<request_work>>& idle = idle_->idle;
    std::unique_ptr<request_work> taken;
    if (idle.empty()) {
        taken = std::make_unique<request_work>(idle_->settings, idle_->key, idle_->labels);
    } else {
        taken = std::move(idle.back());
        idle.pop_back();
    }
    assert(taken && !taken->memory);  // otherwise it belongs to another request
    taken->memory.emplace(memory);
    ++idle_->in_use;
    return {taken.release(), putter_back{idle_}};
}

std::size_t work_pool::idle() const noexcept {
    return idle_->idle.size();
}

std::size_t work_pool::in_use() const noexcept {
    return idle_->in_use;
}

void work_pool::putter_back::operator()(request_work* done) const noexcept {
    std::unique_ptr<request_work> back{done};
    assert(to->in_use > 0 && back->memory);  // otherwise it was given back before
    assert(std::ranges::find(to->idle, back) == to->idle.end());
    back->memory.reset();
    back->shrink();
    --to->in_use;
    if (to->idle.size() < idle_max) to->idle.push_back(std::move(back));
}

}  // namespace seriesgate
