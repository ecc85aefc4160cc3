/// Random requests of remote write 2, built with the generated classes; all of them are right. And mutations of its
/// references, which no parser takes apart.
#pragma once

#include <cstdint>
#include <iterator>
#include <string>

#include "fuzz/random_request.hpp"
#include "fuzz/wire_tree.hpp"
#include "remote_write_v2.pb.h"

namespace seriesgate::testing {

namespace v2 = io::prometheus::write::v2;

inline std::uint32_t some_ref(const v2::Request& request, random_source& random) {
    return static_cast<std::uint32_t>(below(random, static_cast<std::uint64_t>(request.symbols_size())));
}

template <class Owner>
void add_label_refs(Owner& owner, const v2::Request& request, random_source& random) {
    for (auto count = below(random, 6); count > 0; --count) {
        auto name = some_ref(request, random);
        if (request.symbols(static_cast<int>(name)).empty()) name = 1;  // which is never empty
        owner.add_labels_refs(name);
        owner.add_labels_refs(some_ref(request, random));
    }
}

inline void add_symbols(v2::Request& request, random_source& random) {
    request.add_symbols("");
    for (const char* const text : {"__name__", "up", "job", "instance", "a", "10.0.0.1:9100"})
        request.add_symbols(text);
    // Sometimes enough of them for references of two bytes.
    const auto count = one_in(random, 6) ? 150 + below(random, 100) : below(random, 4);
    for (std::uint64_t i = 0; i < count; ++i) request.add_symbols(one_in(random, 8) ? some_bytes(random, 300) : "s");
}

inline void fill_series(v2::TimeSeries& series, const v2::Request& request, random_source& random) {
    fill_data(series, random, [&](auto& owner) { add_label_refs(owner, request, random); });
    if (!one_in(random, 3)) {
        auto& metadata = *series.mutable_metadata();
        metadata.set_type(static_cast<v2::Metadata_MetricType>(below(random, 8)));
        metadata.set_help_ref(some_ref(request, random));
        metadata.set_unit_ref(some_ref(request, random));
        add_unknown_fields(metadata, random);
    }
    if (one_in(random, 12))
        series.GetReflection()->MutableUnknownFields(&series)->AddVarint(6, random());  // created_timestamp of rc.3
    add_unknown_fields(series, random);
}

inline std::string random_request_v2(random_source& random) {
    v2::Request request;
    if (!one_in(random, 20)) {
        add_symbols(request, random);
        for (auto count = below(random, 5); count > 0; --count) fill_series(*request.add_timeseries(), request, random);
    }
    add_unknown_fields(request, random);
    return request.SerializeAsString();
}

/// A run of references in other pieces: each unpacked, or cut in two runs.
inline void split_refs(wire_tree& list, std::size_t at, random_source& random) {
    const wire_field run = list[at];
    wire_tree pieces;
    const bool unpack = one_in(random, 2);
    const char* const end = run.bytes.data() + run.bytes.size();
    for (const char* ref = run.bytes.data(); ref != end;) {
        std::uint64_t ignored = 0;
        const char* const after = read_varint(ref, end, ignored);
        if (after == nullptr) return;
        if (unpack || pieces.empty() || one_in(random, 3)) {
            pieces.emplace_back().tag = tag_of(1, unpack ? wire_type::varint : wire_type::len);
        }
        pieces.back().bytes.append(ref, after);
        ref = after;
    }
    const auto place = list.begin() + static_cast<std::ptrdiff_t>(at);
    list.insert(list.erase(place), pieces.begin(), pieces.end());
}

/// One reference written in another way, moved to another symbol, or one too many.
inline void bend_ref(std::string& packed, random_source& random) {
    const std::uint64_t wild[] = {0, 1, 7, 8, 200, 300, UINT32_MAX, 0x100000001, random()};
    const auto ref = wild[below(random, std::size(wild))];
    std::string written;
    append_padded_varint(written, ref, one_in(random, 4) ? below(random, 11) : 1);
    const auto at = below(random, packed.size() + 1);
    packed.replace(at, one_in(random, 3) ? 0 : 1, written);
}

/// Makes one change to the references of a series or an exemplar, or puts a series in front of the symbols.
inline void mutate_refs(wire_tree& request, random_source& random) {
    if (request.empty()) return;
    if (one_in(random, 4)) {
        std::swap(request[below(random, request.size())], request[below(random, request.size())]);
        return;
    }
    std::vector<wire_tree*> owners;
    for (wire_field& field : request) {
        if (field.message != v2::TimeSeries::descriptor()) continue;
        owners.push_back(&field.fields);
        for (wire_field& inner : field.fields)
            if (inner.message == v2::Exemplar::descriptor()) owners.push_back(&inner.fields);
    }
    if (owners.empty()) return;
    wire_tree& owner = *owners[below(random, owners.size())];
    for (std::size_t at = 0; at < owner.size(); ++at) {
        if (owner[at].tag != tag_of(1, wire_type::len)) continue;
        if (one_in(random, 3)) {
            bend_ref(owner[at].bytes, random);
        } else {
            split_refs(owner, at, random);
        }
        return;
    }
}

}  // namespace seriesgate::testing
