#include "ingest/outgoing.hpp"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <utility>

#include "core/text.hpp"
#include "ingest/sender_texts.hpp"
#include "limit/limiter.hpp"
#include "limit/rules.hpp"

namespace seriesgate {
namespace {

bool is_for_translation(const decided_request& request, const upstream_config& upstream) {
    return request.kind.version == protocol::v2 && upstream.protocol == upstream_protocol::v1 && !upstream.discard;
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
    if (!take_room(work, spliced_size(request.decoded, request.decided.removed))) return std::nullopt;
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

/// Removes the text before `separator`, and `separator`, from the front of `text`. @return that text, trimmed.
std::string_view take_until(std::string_view& text, char separator) {
    const auto at = text.find(separator);
    const std::string_view front = text.substr(0, at);
    text = at == std::string_view::npos ? std::string_view{} : text.substr(at + 1);
    return trimmed(front);
}

std::string_view unquoted(std::string_view text) {
    return text.size() >= 2 && text.front() == '"' && text.back() == '"' ? text.substr(1, text.size() - 2) : text;
}

constexpr std::string_view v1_message = "prometheus.WriteRequest";
constexpr std::string_view v2_message = "io.prometheus.write.v2.Request";

/// Spellings that every store reads alike.
constexpr std::string_view plain_type = "application/x-protobuf";
constexpr std::string_view v1_type = "application/x-protobuf;proto=prometheus.WriteRequest";
constexpr std::string_view v2_type = "application/x-protobuf;proto=io.prometheus.write.v2.Request";

bool is_protobuf(std::string_view type) {
    return equal_ignoring_case(type, plain_type) || equal_ignoring_case(type, "application/vnd.google.protobuf");
}

/// Sets version, and content_type if it needs another spelling; or fault.
void read_type(std::string_view type, media& found) {
    std::string_view parameters = type;
    if (!type.empty() && !is_protobuf(take_until(parameters, ';'))) {
        found.fault =
            "unsupported Content-Type: remote write wants application/x-protobuf, not " + shown_in_answer(type);
        return;
    }
    unsigned messages = 0;
    while (!parameters.empty() && found.fault.empty()) {
        std::string_view value = take_until(parameters, ';');
        if (!equal_ignoring_case(take_until(value, '='), "proto")) continue;
        const std::string_view message = unquoted(trimmed(value));
        if (++messages > 1) {
            found.fault = "more than one protobuf message in Content-Type";
        } else if (message == v2_message) {
            found.version = protocol::v2;
        } else if (message != v1_message) {
            found.fault =
                "unsupported protobuf message in Content-Type: remote write is prometheus.WriteRequest or "
                "io.prometheus.write.v2.Request, not " +
                shown_in_answer(message);
        }
    }
    if (found.version == protocol::v2 && type != v2_type) found.content_type = v2_type;
    if (found.version == protocol::v1 && type != plain_type && type != v1_type) found.content_type = plain_type;
}

constexpr std::string_view name_of(compression coding) {
    return coding == compression::zstd ? "zstd" : "snappy";
}

/// Sets coding from the header, or fault.
void read_encoding(std::string_view list, media& found) {
    std::size_t names = 0;
    for_each_item(list, [&](std::string_view name) {
        const bool is_zstd = equal_ignoring_case(name, "zstd");
        if (++names > 1 || !(is_zstd || equal_ignoring_case(name, "snappy")))
            found.fault = "unsupported Content-Encoding: remote write wants snappy, or zstd, not " +
                          shown_in_answer(trimmed(list));
        if (is_zstd) found.coding = compression::zstd;
        return found.fault.empty();
    });
}

/// Whether a body begins like a zstd frame or a skippable frame. No valid snappy block begins like that: its first
/// number would be its size (40, or 80 to 95), followed by a copy from 1327, or 6221, bytes before its first byte. So
/// no body is valid in both, and nothing has to be tried.
/// Source: RFC 8878, sections 3.1.1 and 3.1.2; google/snappy format_description.txt.
bool begins_as_zstd(bytes_view body) {
    if (body.starts_with(bytes_view{"\x28\xb5\x2f\xfd", 4})) return true;
    return body.size() >= 4 && (static_cast<unsigned char>(body[0]) & 0xf0u) == 0x50u &&
           body.substr(1, 3) == bytes_view{"\x2a\x4d\x18", 3};
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

media media_of(const http::fields& headers, bytes_view body) {
    // With two headers, the store might read the other one.
    if (headers.count(http::field::content_type) > 1) return {.fault = "more than one Content-Type"};
    if (headers.count(http::field::content_encoding) > 1) return {.fault = "more than one Content-Encoding"};
    media found;
    const auto type = headers.find(http::field::content_type);
    if (type != headers.end()) read_type(type->value(), found);
    const auto encoding = headers.find(http::field::content_encoding);
    if (encoding != headers.end() && found.fault.empty()) read_encoding(encoding->value(), found);
    if (!found.fault.empty()) return found;
    if (!body.empty()) found.coding = begins_as_zstd(body) ? compression::zstd : compression::snappy;
    const std::string_view coding = name_of(found.coding);
    const std::string_view named = encoding == headers.end() ? "snappy" : std::string_view{encoding->value()};
    if (named != coding) found.content_encoding = coding;
    return found;
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
