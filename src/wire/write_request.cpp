#include "wire/write_request.hpp"

#include <cassert>

#include "wire/canonical_labels.hpp"
#include "wire/sample_records.hpp"

namespace seriesgate {
namespace {

constexpr auto len = wire_type::len;
constexpr auto varint = wire_type::varint;
constexpr auto fixed64 = wire_type::fixed64;

/// Label of an exemplar: well formed is all we ask.
fault check_label(bytes_view label) noexcept {
    field_cursor fields{label};
    while (fields.next()) switch (fields.tag()) {
            case tag_of(1, len):  // name
            case tag_of(2, len):  // value
                fields.read_bytes();
                break;
            default:
                fields.skip_unknown(known_fields(1, 2));
        }
    return fault_of(fields);
}

fault check_exemplar(bytes_view exemplar) noexcept {
    field_cursor fields{exemplar};
    while (fields.next()) switch (fields.tag()) {
            case tag_of(1, len):
                if (auto wrong = check_label(fields.read_bytes())) return wrong;
                break;
            case tag_of(2, fixed64):  // value
                fields.read_fixed64();
                break;
            case tag_of(3, varint):  // timestamp
                fields.read_varint_value();
                break;
            default:
                fields.skip_unknown(known_fields(1, 2, 3));
        }
    return fault_of(fields);
}

fault check_metadata(bytes_view metadata) noexcept {
    field_cursor fields{metadata};
    while (fields.next()) switch (fields.tag()) {
            case tag_of(1, varint):  // type
                fields.read_varint_value();
                break;
            case tag_of(2, len):  // metric_family_name
            case tag_of(4, len):  // help
            case tag_of(5, len):  // unit
                fields.read_bytes();
                break;
            default:
                fields.skip_unknown(known_fields(1, 2, 4, 5));
        }
    return fault_of(fields);
}

}  // namespace

void write_request_reader::reset(bytes_view body) noexcept {
    assert(body.size() <= decoded_bytes_limit);
    body_ = body;
    fields_ = field_cursor{body};
    series_count_ = 0;
    metadata_ = 0;
    error_ = {};
}

bool write_request_reader::next() {
    while (fields_.next()) switch (fields_.tag()) {
            case tag_of(1, len): {
                const char* const start = fields_.field_start();
                const bytes_view payload = fields_.read_bytes();
                if (fields_.failed()) break;
                if (++series_count_ > series_per_request_max) return fail(wire_errc::series_over_limit, start);
                series_.record = {static_cast<std::uint32_t>(start - body_.data()),
                                  static_cast<std::uint32_t>(fields_.position() - start)};
                return read_series(payload);
            }
            case tag_of(3, len):
                if (auto wrong = check_metadata(fields_.read_bytes())) return fail(wrong.code, wrong.at);
                ++metadata_;
                break;
            default:
                fields_.skip_unknown(known_fields(1, 3));
        }
    if (fields_.failed() && !failed()) return fail(fields_.error(), fields_.field_start());
    return false;
}

/// What nearly all entries are: a canonical label set and one sample.
bool write_request_reader::read_series(bytes_view payload) {
    series_.samples = series_.histograms = series_.exemplars = 0;
    series_.labels = {};
    labels_.clear();
    const char* const end = payload.data() + payload.size();
    const char* const run_end = canonical_labels_end(payload.data(), end, body_.data() + body_.size());
    series_.label_run = {payload.data(), static_cast<std::size_t>(run_end - payload.data())};
    if (series_.label_run.size() > labels_per_series_max * label_record_bytes_min) [[unlikely]] {
        append_labels(series_.label_run, labels_);
        if (labels_.size() > labels_per_series_max) return fail(wire_errc::labels_over_limit, payload.data());
        labels_.clear();
    }
    std::uint64_t value = 0;
    if (read_plain_sample(run_end, end, value) == end) [[likely]] {
        series_.samples = 1;
        series_.admits = value != stale_marker_bits;
        return true;
    }
    return read_records({run_end, static_cast<std::size_t>(end - run_end)});
}

/// Everything behind the label run, labels too: then there is none.
bool write_request_reader::read_records(bytes_view records) {
    series_.admits = false;
    field_cursor fields{records};
    while (fields.next()) switch (fields.tag()) {
            case tag_of(1, len): {
                const char* const start = fields.field_start();
                const bytes_view label = fields.read_bytes();
                if (fields.failed()) break;
                if (!series_.label_run.empty()) {
                    append_labels(series_.label_run, labels_);
                    series_.label_run = {};
                }
                if (!read_label(label)) return false;
                if (labels_.size() > labels_per_series_max) return fail(wire_errc::labels_over_limit, start);
                break;
            }
            case tag_of(2, len): {
                std::uint64_t value = 0;
                if (auto wrong = read_sample(fields.read_bytes(), sample_fields_v1, value))
                    return fail(wrong.code, wrong.at);
                ++series_.samples;
                series_.admits |= value != stale_marker_bits;
                break;
            }
            case tag_of(3, len):
                if (auto wrong = check_exemplar(fields.read_bytes())) return fail(wrong.code, wrong.at);
                ++series_.exemplars;
                break;
            case tag_of(4, len): {
                std::uint64_t sum = 0;
                if (auto wrong = check_histogram(fields.read_bytes(), histogram_fields_v1, sum))
                    return fail(wrong.code, wrong.at);
                ++series_.histograms;
                series_.admits |= sum != stale_marker_bits;
                break;
            }
            default:
                fields.skip_unknown(known_fields(1, 2, 3, 4));
        }
    if (fields.failed()) return fail(fields.error(), fields.field_start());
    series_.labels = labels_;
    return true;
}

/// A field that comes twice: the last one counts, as in every parser.
bool write_request_reader::read_label(bytes_view payload) {
    label_view label;
    field_cursor fields{payload};
    while (fields.next()) switch (fields.tag()) {
            case tag_of(1, len):
                label.name = fields.read_bytes();
                break;
            case tag_of(2, len):
                label.value = fields.read_bytes();
                break;
            default:
                fields.skip_unknown(known_fields(1, 2));
        }
    if (fields.failed()) return fail(fields.error(), fields.field_start());
    if (label.name.empty()) return fail(wire_errc::label_without_name, payload.data());
    if (label.name.size() > label_bytes_max || label.value.size() > label_bytes_max)
        return fail(wire_errc::label_bytes_over_limit, payload.data());
    labels_.push_back(label);
    return true;
}

bool write_request_reader::fail(wire_errc code, const char* at) noexcept {
    error_ = {code, static_cast<std::uint64_t>(at - body_.data())};
    fields_.fail(code);
    return false;
}

void splice(bytes_view body, std::span<const byte_range> removed, std::string& out) {
    out.clear();
    std::uint32_t kept_from = 0;
    for (const byte_range range : removed) {
        assert(range.offset >= kept_from && range.end() <= body.size());
        out.append(body.substr(kept_from, range.offset - kept_from));
        kept_from = range.end();
    }
    out.append(body.substr(kept_from));
}

}  // namespace seriesgate
