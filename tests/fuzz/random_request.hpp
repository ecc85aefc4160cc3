/// Random requests of remote write 1 with every message kind, built with the generated classes; all of them are right.
#pragma once

#include <bit>
#include <cstdint>
#include <string>

#include "fuzz/wire_tree.hpp"
#include "remote_write_v1.pb.h"

namespace seriesgate::testing {

inline double some_double(random_source& random) {
    const std::uint64_t bits[] = {
        0, 0x3ff0000000000000, 0x7ff0000000000002, 0x7ff8000000000001, 0x7ff0000000000000, random()};
    return std::bit_cast<double>(bits[below(random, std::size(bits))]);
}

inline std::int64_t some_integer(random_source& random) {
    return static_cast<std::int64_t>(random() >> below(random, 64));
}

/// Field numbers that no message of remote write defines.
template <class Message>
void add_unknown_fields(Message& message, random_source& random) {
    if (!one_in(random, 12)) return;
    auto& unknown = *message.GetReflection()->MutableUnknownFields(&message);
    const int number = one_in(random, 2) ? 20 + static_cast<int>(below(random, 60)) : 536870911;
    switch (below(random, 4)) {
        case 0:
            unknown.AddVarint(number, random());
            break;
        case 1:
            unknown.AddFixed64(number, random());
            break;
        case 2:
            unknown.AddFixed32(number, static_cast<std::uint32_t>(random()));
            break;
        default:
            unknown.AddLengthDelimited(number, some_bytes(random, 10));
    }
}

template <class Owner>
void add_labels(Owner& owner, random_source& random) {
    const char* const names[] = {"__name__", "job", "instance", "pod", "a", "ab", "namespace"};
    const char* const values[] = {"up", "a", "", "node-exporter", "10.0.0.1:9100"};
    for (auto count = below(random, 6); count > 0; --count) {
        auto& label = *owner.add_labels();
        label.set_name(one_in(random, 8) ? "x" + some_bytes(random, 150) : names[below(random, std::size(names))]);
        label.set_value(one_in(random, 8) ? some_bytes(random, 300) : values[below(random, std::size(values))]);
        add_unknown_fields(label, random);
    }
}

/// Of either version.
template <class Histogram>
void fill_histogram(Histogram& histogram, random_source& random) {
    const bool as_integers = one_in(random, 2);
    if (as_integers) {
        histogram.set_count_int(random());
        histogram.set_zero_count_int(below(random, 1000));
    } else {
        histogram.set_count_float(some_double(random));
        histogram.set_zero_count_float(some_double(random));
    }
    histogram.set_sum(some_double(random));
    histogram.set_schema(static_cast<int>(below(random, 62)) - 53);
    histogram.set_zero_threshold(some_double(random));
    for (auto count = below(random, 3); count > 0; --count) {
        for (auto* span : {histogram.add_positive_spans(), histogram.add_negative_spans()}) {
            span->set_offset(static_cast<std::int32_t>(some_integer(random)));
            span->set_length(static_cast<std::uint32_t>(random()));
            add_unknown_fields(*span, random);
        }
        if (as_integers) {
            histogram.add_positive_deltas(some_integer(random));
            histogram.add_negative_deltas(-some_integer(random));
        } else {
            histogram.add_positive_counts(some_double(random));
            histogram.add_negative_counts(some_double(random));
        }
        histogram.add_custom_values(some_double(random));
    }
    histogram.set_reset_hint(static_cast<decltype(histogram.reset_hint())>(below(random, 4)));
    histogram.set_timestamp(some_integer(random));
    add_unknown_fields(histogram, random);
}

/// Of a sample or a histogram; version 1 has none.
template <class Point>
void set_start(Point& point, random_source& random) {
    if constexpr (requires { point.set_start_timestamp(0); })
        if (one_in(random, 3)) point.set_start_timestamp(some_integer(random));
}

/// Of either version. @param label gives a series or an exemplar labels.
template <class Series>
void fill_data(Series& series, random_source& random, const auto& label) {
    label(series);
    for (auto count = below(random, 3); count > 0; --count) {
        auto& sample = *series.add_samples();
        sample.set_value(some_double(random));
        sample.set_timestamp(some_integer(random));
        set_start(sample, random);
        add_unknown_fields(sample, random);
    }
    if (one_in(random, 4)) {
        auto& exemplar = *series.add_exemplars();
        label(exemplar);
        exemplar.set_value(some_double(random));
        exemplar.set_timestamp(some_integer(random));
        add_unknown_fields(exemplar, random);
    }
    if (one_in(random, 4)) {
        auto& histogram = *series.add_histograms();
        fill_histogram(histogram, random);
        set_start(histogram, random);
    }
}

inline void fill_series(prometheus::TimeSeries& series, random_source& random) {
    fill_data(series, random, [&](auto& owner) { add_labels(owner, random); });
    add_unknown_fields(series, random);
}

inline std::string random_request(random_source& random) {
    prometheus::WriteRequest request;
    for (auto count = below(random, 5); count > 0; --count) fill_series(*request.add_timeseries(), random);
    for (auto count = one_in(random, 3) ? below(random, 4) : 0; count > 0; --count) {
        auto& metadata = *request.add_metadata();
        metadata.set_type(static_cast<prometheus::MetricMetadata_MetricType>(below(random, 8)));
        metadata.set_metric_family_name("up");
        metadata.set_help(some_bytes(random, 20));
        metadata.set_unit("seconds");
        add_unknown_fields(metadata, random);
    }
    add_unknown_fields(request, random);
    return request.SerializeAsString();
}

}  // namespace seriesgate::testing
