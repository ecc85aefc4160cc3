#include "wire/write_request.hpp"

#include <cassert>

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

bool write_request_reader::read_series(bytes_view payload) {
    labels_.clear();
    series_.samples = series_.histograms = series_.exemplars = 0;
    series_.admits = false;

    bool canonical = true;
    const char* run_begin = nullptr;
    const char* run_end = nullptr;
    field_cursor fields{payload};
    const char* const end = payload.data() + payload.size();

    while (fields.next()) switch (fields.tag()) {
            case tag_of(1, len): {
                const char* const start = fields.field_start();
                if (const char* after = read_plain_label(start, end)) {
                    fields.resume_at(after);
                } else {
                    const bytes_view label = fields.read_bytes();
                    if (fields.failed()) break;
                    canonical = canonical && label.data() - start == 1 + varint_size(label.size());
                    if (!read_label(label, canonical)) return false;
                }
                if (labels_.size() > labels_per_series_max) return fail(wire_errc::labels_over_limit, start);
                if (run_begin == nullptr) run_begin = run_end = start;
                canonical = canonical && start == run_end;  // samples between labels break the run
                run_end = fields.position();
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
    series_.label_run = canonical ? bytes_view{run_begin, static_cast<std::size_t>(run_end - run_begin)} : bytes_view{};
    return true;
}

/// The fast way through a label as every sender writes it: all lengths below 128, name, then value, nothing else.
/// @return the byte after it, or nullptr if it looks different (nothing has been taken then).
const char* write_request_reader::read_plain_label(const char* at, const char* end) {
    // 0x0a size 0x0a name_size name 0x12 value_size value
    if (end - at < 8) return nullptr;
    const auto byte = [](const char* p) { return static_cast<unsigned char>(*p); };
    const unsigned size = byte(at + 1);
    const unsigned name_size = byte(at + 3);
    if (size >= 0x80 || at[2] != 0x0a || name_size == 0 || size < name_size + 5) return nullptr;
    if (end - at < static_cast<std::ptrdiff_t>(size + 2)) return nullptr;
    const char* const value_tag = at + 4 + name_size;
    const unsigned value_size = byte(value_tag + 1);
    if (*value_tag != 0x12 || value_size != size - name_size - 4) return nullptr;
    labels_.push_back({{at + 4, name_size}, {value_tag + 2, value_size}});
    return at + 2 + size;
}

/// Any other label. A field that comes twice: the last one counts, as in every parser.
bool write_request_reader::read_label(bytes_view payload, bool& canonical) {
    label_view label;
    unsigned order = 0;  // 1 after the name, 2 after the value: the canonical sequence
    field_cursor fields{payload};
    while (fields.next()) {
        const char* const start = fields.field_start();
        switch (fields.tag()) {
            case tag_of(1, len):
                label.name = fields.read_bytes();
                canonical = canonical && order == 0 && label.name.data() - start == 1 + varint_size(label.name.size());
                order = 1;
                break;
            case tag_of(2, len):
                label.value = fields.read_bytes();
                canonical =
                    canonical && order == 1 && label.value.data() - start == 1 + varint_size(label.value.size());
                order = 2;
                break;
            default:
                fields.skip_unknown(known_fields(1, 2));
                canonical = false;
        }
    }
    if (fields.failed()) return fail(fields.error(), fields.field_start());
    if (label.name.empty()) return fail(wire_errc::label_without_name, payload.data());
    if (label.name.size() > label_bytes_max || label.value.size() > label_bytes_max)
        return fail(wire_errc::label_bytes_over_limit, payload.data());
    canonical = canonical && !label.value.empty();
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
