#include "wire/translation.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <string_view>

#include "core/text.hpp"
#include "series/label.hpp"
#include "wire/field_cursor.hpp"
#include "wire/sample_records.hpp"

namespace seriesgate {
namespace {

using enum wire_type;

/// More metric families than usual requests have.
constexpr std::size_t written_kept_max = 10'000;

/// Source: prometheus/prometheus model/histogram/generic.go, CustomBucketsSchema.
bool has_custom_buckets(bytes_view histogram) {
    constexpr std::uint32_t schema = 105;  // -53 as sint32
    std::uint64_t value = 0;
    field_cursor fields{histogram};
    while (fields.next()) {
        if (fields.tag() == tag_of(4, varint))
            value = fields.read_varint_value();
        else
            fields.skip_unknown(0);
    }
    return static_cast<std::uint32_t>(value) == schema;
}

/// Removes the suffix that a series' name adds to its metric family. A counter's `_total` belongs to the family in the
/// text format, but not in OpenMetrics; Prometheus mostly scrapes the former. Types as in the message MetricMetadata.
bytes_view family_of(bytes_view metric, std::uint64_t type) {
    constexpr std::array<std::array<bytes_view, 4>, 7> suffixes{{{},
                                                                 {"_created"},
                                                                 {},
                                                                 {"_bucket", "_sum", "_count", "_created"},
                                                                 {"_bucket", "_gsum", "_gcount"},
                                                                 {"_sum", "_count", "_created"},
                                                                 {"_info"}}};
    const auto known = static_cast<std::uint32_t>(type);
    if (known >= suffixes.size()) return metric;
    for (const bytes_view suffix : suffixes[known])
        if (!suffix.empty() && metric.size() > suffix.size() && metric.ends_with(suffix))
            return metric.substr(0, metric.size() - suffix.size());
    return metric;
}

}  // namespace

translation_loss translator::operator()(bytes_view body, std::span<const byte_range> removed, std::string& out) {
    translation_loss lost;
    out.clear();
    metadata_.clear();
    written_.clear();
    reader_.reset(body);
    while (reader_.next()) {
        const byte_range record = reader_.series().record;
        if (!removed.empty() && removed.front().offset == record.offset) {
            removed = removed.subspan(1);
            continue;
        }
        reader_.labels(record, labels_);
        const std::string_view fault = reader_.series().holds_data() ? fault_of_labels() : std::string_view{};
        if (!fault.empty()) {
            leave_out(reader_.series(), fault, lost);
            continue;
        }
        field_cursor fields{slice(body, record)};
        fields.next();
        metric_metadata metadata{};
        if (!write_series(fields.read_bytes(), metadata, lost)) continue;
        append_bytes(out, tag_of(1, len), series_);
        if (metadata != metric_metadata{}) write_metadata(metadata);
    }
    assert(!reader_.failed());  // the body has been read before
    assert(removed.empty());    // each was the record of an entry
    out.append(metadata_);
    shrink();
    return lost;
}

void translator::shrink() {
    reader_.shrink();
    give_back_all(series_, inner_, metadata_, key_, labels_, names_);
    if (written_.size() > written_kept_max) decltype(written_){}.swap(written_);
}

/// @return the fault of a series' labels; empty if there is none.
std::string_view translator::fault_of_labels() {
    if (label_value(labels_, name_label).empty()) return "no metric name";
    names_.clear();
    for (const label_view& label : labels_) {
        if (!is_utf8(label.name) || !is_utf8(label.value)) return "a label that is no UTF-8";
        names_.push_back(label.name);
    }
    if (!std::ranges::is_sorted(names_)) std::ranges::sort(names_);
    return std::ranges::adjacent_find(names_) == names_.end() ? "" : "two labels of one name";
}

void translator::leave_out(const series_view& series, std::string_view fault, translation_loss& lost) const {
    if (lost.invalid.series++ == 0) lost.invalid.first.append(fault).append(": ").append(to_text(labels_, 256));
    lost.invalid.samples += series.samples;
    lost.invalid.histograms += series.histograms;
    lost.invalid.exemplars += series.exemplars;
}

/// @return false if nothing remains of the series.
bool translator::write_series(bytes_view payload, metric_metadata& metadata, translation_loss& lost) {
    const std::uint32_t lost_before = lost.histograms;
    series_.clear();
    for (const label_view& label : labels_) append_label(series_, label.name, label.value);
    const std::size_t labels_end = series_.size();

    field_cursor fields{payload};
    while (fields.next()) switch (fields.tag()) {
            case tag_of(2, len):
                append_bytes(series_, tag_of(2, len), fields.read_bytes());
                break;
            case tag_of(3, len): {
                const bytes_view histogram = fields.read_bytes();
                if (has_custom_buckets(histogram))
                    ++lost.histograms;
                else
                    append_bytes(series_, tag_of(4, len), histogram);
                break;
            }
            case tag_of(4, len):
                write_exemplar(fields.read_bytes());
                append_bytes(series_, tag_of(3, len), inner_);
                break;
            case tag_of(5, len): {  // if repeated, later values replace earlier ones
                field_cursor inner{fields.read_bytes()};
                while (inner.next()) {
                    const std::uint32_t field = inner.tag() >> 3;
                    const bool is_kept = field == 1 || field == 3 || field == 4;
                    if (is_kept && inner.tag() == tag_of(field, varint))
                        metadata[field] = inner.read_varint_value();
                    else
                        inner.skip_unknown(0);
                }
                break;
            }
            default:
                fields.skip_unknown(0);
        }
    assert(!fields.failed() && series_.size() >= labels_end);
    return series_.size() > labels_end || lost.histograms == lost_before;
}

/// Writes to inner_ with labels spelled out and all else unchanged.
void translator::write_exemplar(bytes_view exemplar) {
    inner_.clear();
    bytes_view name;
    bool half = false;
    const auto take = [&](std::uint64_t ref) {
        const bytes_view symbol = reader_.symbol(ref);
        if (half) append_label(inner_, name, symbol);
        name = symbol;
        half = !half;
    };
    field_cursor fields{exemplar};
    while (fields.next()) switch (fields.tag()) {
            case tag_of(1, len):
                for_each_ref(fields.read_bytes(), take);
                break;
            case tag_of(1, varint):
                take(fields.read_varint_value());
                break;
            default:
                fields.skip_unknown(0);
                inner_.append(fields.field_start(), fields.position());
        }
    assert(!half && !fields.failed());
}

/// Writes each family once per distinct metadata: targets may differ.
void translator::write_metadata(const metric_metadata& metadata) {
    const bytes_view metric = label_value(labels_, name_label);
    if (metric.empty()) return;
    const bytes_view family = family_of(metric, metadata[1]);
    key_.assign(family);
    for (const std::uint64_t part : metadata) {
        key_.push_back('\0');
        append_varint(key_, part);
    }
    if (!written_.insert(hash_(key_)).second) return;

    inner_.clear();
    if (metadata[1] != 0) {
        append_varint(inner_, tag_of(1, varint));
        append_varint(inner_, metadata[1]);
    }
    append_bytes(inner_, tag_of(2, len), family);
    const auto append_text = [this](std::uint32_t field, std::uint64_t ref) {
        if (ref != 0) append_bytes(inner_, tag_of(field, len), reader_.symbol(ref));
    };
    append_text(4, metadata[3]);
    append_text(5, metadata[4]);
    append_bytes(metadata_, tag_of(3, len), inner_);
}

}  // namespace seriesgate
