// What a store gets of generated requests, of all kinds of messages in both versions: the sender's own bytes, or the
// original without the refused series, bit for bit.

#include "fuzz/random_request.hpp"
#include "fuzz/random_request_v2.hpp"
#include "fuzz/walk_property.hpp"
#include "limit/limiter.hpp"
#include "plan/planner.hpp"
#include "plan/requests.hpp"
#include "support/catch.hpp"
#include "support/sanitizers.hpp"
#include "wire/splice.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

constexpr int request_count = sanitized ? 4'000 : 100'000;

/// Fields in an order that no serializer writes, though those of one number keep theirs: parsers take any.
void shuffle(wire_tree& fields, random_source& random) {
    wire_tree mixed = fields;
    for (std::size_t i = mixed.size(); i > 1; --i) std::swap(mixed[i - 1], mixed[below(random, i)]);
    std::vector<bool> used(fields.size());
    for (wire_field& place : mixed) {
        for (std::size_t i = 0; i < fields.size(); ++i) {
            if (used[i] || fields[i].tag >> 3 != place.tag >> 3) continue;
            used[i] = true;
            place = fields[i];
            break;
        }
        shuffle(place.fields, random);
    }
    fields = std::move(mixed);
}

std::string shuffled(const std::string& body, message_kind kind, random_source& random) {
    auto tree = parse_tree(body, kind);
    REQUIRE(tree.has_value());
    shuffle(*tree, random);
    return to_bytes(*tree);
}

/// The message without the series that the plan removes, as the generated classes write it.
template <class Message>
std::string without_removed(const std::string& body, std::span<const byte_range> removed, protocol version) {
    Message message;
    REQUIRE(message.ParseFromString(body));
    auto& series = *message.mutable_timeseries();
    std::size_t next = 0;
    int kept = 0;
    const auto keep_or_drop = [&](auto reader) {
        for (int entry = 0; reader.next(); ++entry) {
            if (next < removed.size() && removed[next] == reader.series().record)
                ++next;
            else
                series.SwapElements(kept++, entry);
        }
    };
    version == protocol::v2 ? keep_or_drop(write_request_v2_reader{body}) : keep_or_drop(write_request_reader{body});
    REQUIRE(next == removed.size());
    series.DeleteSubrange(kept, series.size() - kept);
    return message.SerializeAsString();
}

struct forwards {
    int unchanged = 0, spliced = 0;
};

/// Every request in a tenant of its own, with room for two series.
template <class Message>
forwards forward_all(protocol version, compression coding, std::string (*generate)(random_source&)) {
    random_source random{20261124};
    limit_rules settings;
    settings.tenants.fallback.hourly = 2;
    settings.tenants.tenants_max = request_count;
    series_limiter limiter{settings, noon};
    planner plan_request{hash_key::known_to_all()};
    body_codec codec;
    decode_buffer buffer;
    std::string left;
    std::string compressed;
    forwards seen;
    for (int i = 0; i < request_count; ++i) {
        const auto kind = version == protocol::v2 ? message_kind::request_v2 : message_kind::request;
        std::string body = generate(random);
        if (one_in(random, 2)) body = shuffled(body, kind, random);
        const auto made = plan_request(body, limiter, noon, std::to_string(i), version);
        REQUIRE(made.has_value());
        if (made->forward == body_action::unchanged) {
            REQUIRE(made->removed.empty());
            ++seen.unchanged;
        }
        if (made->forward == body_action::unchanged || made->forward == body_action::nothing) continue;
        REQUIRE(made->forward == body_action::spliced);  // no other is the planner's to say
        ++seen.spliced;
        splice(body, made->removed, left);
        codec.encode(coding, left, compressed);
        const auto newly_admitted = codec.decode(coding, compressed, 32 << 20, buffer);
        REQUIRE(newly_admitted.has_value());
        Message message;
        REQUIRE(message.ParseFromArray(newly_admitted->data(), static_cast<int>(newly_admitted->size())));
        REQUIRE((message.SerializeAsString() == without_removed<Message>(body, made->removed, version)));
    }
    return seen;
}

}  // namespace

TEST_CASE("generated requests arrive as sent, or without the refused series and nothing else") {
    const bool is_v2 = GENERATE(false, true);
    const forwards seen =
        is_v2 ? forward_all<io::prometheus::write::v2::Request>(protocol::v2, compression::zstd, random_request_v2)
              : forward_all<prometheus::WriteRequest>(protocol::v1, compression::snappy, random_request);
    CHECK(seen.unchanged > request_count / 5);
    CHECK(seen.spliced > request_count / 5);
}
