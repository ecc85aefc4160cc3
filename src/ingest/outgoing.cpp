#include "ingest/outgoing.hpp"

#include <cassert>
#include <cstdint>
#include <span>
#include <utility>

#include "ingest/ingest_logs.hpp"
#include "ingest/texts.hpp"
#include "limit/limiter.hpp"
#include "limit/rules.hpp"

namespace seriesgate {
namespace {

/// Whether the request must be translated to remote write 1.
bool is_for_translation(const decided_request& request, const upstream_config& upstream) {
    return request.kind.version == protocol::v2 && upstream.protocol == upstream_protocol::v1 && !upstream.discard;
}

[[maybe_unused]] bool are_in_order(std::span<const byte_range> ranges, bytes_view body) {
    std::uint64_t end = 0;  // of the previous range
    for (const byte_range& each : ranges) {
        if (each.size == 0 || each.offset < end) return false;
        end = std::uint64_t{each.offset} + each.size;
    }
    return end <= body.size();
}

std::uint64_t kept_bytes(bytes_view body, std::span<const byte_range> removed) {
    assert(are_in_order(removed, body));
    std::uint64_t kept = body.size();
    for (const byte_range& range : removed) kept -= range.size;
    return kept;
}

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
    if (!take_room(work, kept_bytes(request.decoded, request.decided.removed))) return std::nullopt;
    std::string body;
    work.codec.encode_spliced(request.kind.coding, request.from.body, request.decoded, request.decided.removed,
                              work.rewritten, body);
    return body;
}

/// As make_spliced; fills in the losses. An empty body if nothing is left.
std::optional<std::string> make_translated(const decided_request& request, request_work& work, outgoing& made) {
    made.lost = work.translate(request.decoded, request.decided.removed, work.rewritten);
    made.untranslated = counts_of(made.lost);
    made.untranslated_text = untranslated_text(made.lost);
    // The size with all symbols filled in is known only now.
    if (!take_room(work, work.rewritten.size())) return std::nullopt;
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

}  // namespace

std::optional<outgoing> make_outgoing(const decided_request& request, request_work& work, series_limiter& limiter,
                                      const upstream_config& upstream) {
    const plan& decided = request.decided;
    outgoing made{.version = request.kind.version,
                  .forward = decided.forward,
                  .content_type = request.kind.content_type,
                  .content_encoding = request.kind.content_encoding,
                  .decided = decided};
    const bool goes_on = decided.forward != body_action::nothing;
    if (goes_on && is_for_translation(request, upstream)) made.forward = body_action::translated;
    if (!make_body(request, work, made)) return std::nullopt;
    made.refused_text = refused_text(decided, request.tenant, work.planning, limiter);
    if (is_left_out_told(request, limiter)) made.left_out_text = left_out_text(decided, work.planning);

    assert((made.body == nullptr) == (made.forward == body_action::nothing));
    assert(made.body == nullptr || !made.body->empty());
    assert(made.forward != body_action::unchanged || made.decided.refused_series + made.decided.left_out_series == 0);
    assert(made.untranslated.samples <= made.decided.accepted().samples);
    return made;
}

}  // namespace seriesgate
