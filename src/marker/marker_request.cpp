#include "marker/marker_request.hpp"

#include <bit>
#include <cassert>

#include "limit/explain.hpp"
#include "wire/decompression.hpp"
#include "wire/field_cursor.hpp"
#include "wire/sample_records.hpp"

namespace seriesgate {
namespace {

constexpr std::string_view metric = "seriesgate_series_refused";

std::vector<label_view> labels_of(const marker_name& name, std::string_view gate) {
    std::vector<label_view> labels{{"__name__", metric},       {"gate", gate},
                                   {"group", name.group},      {"limit", name.limit},
                                   {"tenant", name.of_tenant}, {"window", to_text(name.window)}};
    std::erase_if(labels, [](const label_view& each) { return each.value.empty(); });
    return labels;
}

std::uint64_t bits_of(const marker_sample& sample) {
    if (!sample.series_refused) return stale_marker_bits;
    return std::bit_cast<std::uint64_t>(static_cast<double>(*sample.series_refused));
}

}  // namespace

std::string encode(const marker_request& request, std::string_view gate) {
    std::string raw;
    for (const marker_sample& each : request.samples) {
        assert(each.name.tenant == request.tenant);
        append_series(raw, labels_of(each.name, gate), bits_of(each), each.timestamp);
    }
    decode_buffer room;
    std::string body;
    snappy_encode(raw, room, body);
    return body;
}

}  // namespace seriesgate
