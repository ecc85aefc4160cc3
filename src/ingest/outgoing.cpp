#include "ingest/outgoing.hpp"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <utility>

#include "ingest/sender_texts.hpp"
#include "limit/limiter.hpp"
#include "limit/rules.hpp"

namespace seriesgate {
namespace {

entry_counts counts_of(const translation_loss& lost) {
    return {.samples = lost.histograms + lost.invalid.samples + lost.invalid.histograms,
            .histograms = lost.histograms + lost.invalid.histograms,
            .exemplars = lost.invalid.exemplars};
}

/// @return whether there is room for a body of this many bytes, and as much again for the compressor.
bool take_room(request_work& work, std::uint64_t body_bytes) {
    return work.memory->grow(2 * body_bytes);
}

/// @return the compressed body, or nothing if there is no room for it.
std::optional<std::string> make_spliced(const decided_request& request, request_work& work) {
    if (!take_room(work, spliced_size(request.decoded, request.decided.removed))) return std::nullopt;
    std::string body;
    work.codec.encode_spliced(request.kind.coding, request.from.body, request.decoded, request.decided.removed,
                              work.rewritten, body);
    return body;
}

/// As make_spliced; fills in the losses. An empty body if nothing is left.
std::optional<std::string> make_translated(const decided_request& request, request_work& work, outgoing& made) {
    if (!take_room(work, work.planning.filled_in_bytes(request.decoded))) return std::nullopt;
    made.lost = work.translate(request.decoded, request.decided.removed, work.rewritten);
    made.untranslated = counts_of(made.lost);
    made.untranslated_text = untranslated_text(made.lost);
    std::string body;
    const bool is_nothing_left = made.lost.any() && work.rewritten.empty();
    if (!is_nothing_left) work.codec.encode(request.kind.coding, work.rewritten, body);
    return body;
}

/// Fills in the body. @return false if there is no room for it.
bool make_body(const decided_request& request, request_work& work, outgoing& made) {
    if (made.forward == body_action::nothing) return true;
    if (made.forward == body_action::unchanged) {
        made.body = std::make_shared<const std::string>(std::move(request.from.body));
        return true;
    }
    auto body =
        made.forward == body_action::translated ? make_translated(request, work, made) : make_spliced(request, work);
    if (!body || !request.from.memory.grow(body->capacity())) return false;
    if (body->empty()) {
        made.forward = body_action::nothing;
    } else {
        made.body = std::make_shared<const std::string>(std::move(*body));
    }
    return true;
}

/// Remote write 2 wants an error with the counts of what was written. A version 1 sender would split or repeat the
/// request after an error. So it gets one only where refusals are answered with an error, too.
bool is_left_out_told(const decided_request& request, series_limiter& limiter) {
    if (request.decided.left_out_series == 0) return false;
    return request.kind.version == protocol::v2 || answer_of(*limiter.rules(), request.tenant) == limit_answer::reject;
}

/// Bounds a translated body, whose symbols are filled in, by the size of other bodies.
std::size_t filled_in_max(const config& settings) {
    const bool translates = settings.upstream.protocol == upstream_protocol::v1;
    return translates ? std::min(settings.server.decoded_bytes_max, std::uint64_t{symbol_bytes_per_request_max})
                      : symbol_bytes_per_request_max;
}

}  // namespace

std::optional<outgoing> make_outgoing(const decided_request& request, request_work& work, series_limiter& limiter,
                                      const upstream_config& upstream) {
    const plan& decided = request.decided;
    outgoing made{.version = request.kind.version,
                  .forward = decided.forward,
                  .content_type = request.kind.content_type,
                  .content_encoding = request.kind.content_encoding,
                  .decided = decided};
    const bool is_for_translation =
        made.version == protocol::v2 && upstream.protocol == upstream_protocol::v1 && !upstream.discard;
    if (made.forward != body_action::nothing && is_for_translation) made.forward = body_action::translated;
    if (!make_body(request, work, made)) return std::nullopt;
    made.refused_text = refused_text(decided, request.tenant, work.planning, limiter);
    if (is_left_out_told(request, limiter)) made.left_out_text = left_out_text(decided, work.planning);

    assert((made.body == nullptr) == (made.forward == body_action::nothing));
    assert(made.body == nullptr || !made.body->empty());
    assert(made.forward != body_action::unchanged || made.decided.refused_series + made.decided.left_out_series == 0);
    assert(made.untranslated.samples <= made.decided.accepted().samples);
    return made;
}

request_work::request_work(const config& settings, const hash_key& key, label_hash_cache& labels)
    : planning(key, settings.ignore_labels, filled_in_max(settings), &labels), questions(key), translate(key) {}

void request_work::shrink() {
    give_back(decoding, kept_buffer_bytes);
    planning.shrink();
    questions.shrink();
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
