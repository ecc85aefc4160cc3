#include "wire/write_request_v2.hpp"

#include <algorithm>

namespace seriesgate {
namespace {

using enum wire_type;

constexpr message_form exemplar_form_v2{
    .varints = known_fields(1, 3), .fixed64s = known_fields(2), .lengths = known_fields(1)};

}  // namespace

void write_request_v2_reader::reset(bytes_view body, std::size_t symbol_bytes_max) {
    take_body(body);
    symbols_.clear();
    records_.clear();
    next_ = 0;
    has_long_symbol_ = false;
    last_metadata_ = {};
    last_metadata_symbol_bytes_ = 0;
    symbol_bytes_ = 0;
    symbol_bytes_max_ = symbol_bytes_max;

    const auto range_of = [body](const char* begin, const char* end) {
        return byte_range{static_cast<std::uint32_t>(begin - body.data()), static_cast<std::uint32_t>(end - begin)};
    };
    const unsigned char* const secret = hasher_.secret();
    field_cursor fields{body};
    while (fields.next()) switch (fields.tag()) {
            case tag_of(4, len): {
                const bytes_view symbol = fields.read_bytes();
                if (fields.failed()) break;
                if (symbols_.size() == symbols_per_request_max)
                    return fail(wire_errc::symbols_over_limit, fields.field_start());
                has_long_symbol_ |= symbol.size() > label_bytes_max;
                symbols_.push_back({.text = range_of(symbol.data(), symbol.data() + symbol.size()),
                                    .hash = text_hash(symbol, secret),
                                    .name_order = name_order_of(symbol)});
                break;
            }
            case tag_of(5, len):
                fields.read_bytes();
                if (fields.failed()) break;
                if (records_.size() == series_per_request_max)
                    return fail(wire_errc::series_over_limit, fields.field_start());
                records_.push_back(range_of(fields.field_start(), fields.position()));
                break;
            case tag_of(1, len):
            case tag_of(2, varint):
            case tag_of(3, len):  // unknown in v2, but a store that only knows v1 finds its series here
                return fail(wire_errc::field_of_version_1, fields.field_start());
            default:
                fields.skip_unknown(known_fields(1, 2, 3, 4, 5));
        }
    if (fields.failed()) fail(fields.error(), fields.field_start());
    assert(symbols_.size() <= symbols_per_request_max && records_.size() <= series_per_request_max);
}

bool write_request_v2_reader::next() {
    if (next_ >= records_.size() || failed()) return false;
    series_.record = records_[next_++];
    assert(series_.record.end() <= body_.size() && series_.record.size >= 2);
    const bytes_view record = slice(body_, series_.record);
    const char* const end = record.data() + record.size();
    std::uint64_t size = 0;
    const char* const begin = read_varint(record.data() + 1, end, size);  // cannot fail: reset() has read it
    assert(begin != nullptr && size == static_cast<std::size_t>(end - begin));
    if (auto wrong = read_series({begin, static_cast<std::size_t>(end - begin)})) {
        fail(wrong.code, wrong.at);
        return false;
    }
    if (symbol_bytes_ <= symbol_bytes_max_) return true;
    fail(wire_errc::request_symbol_bytes_over_limit, body_.data() + series_.record.offset);
    return false;
}

/// Reads a packed run in the usual form: the entry's only run and first field.
/// @return the byte after the labels read; the start of the first label that is invalid or one too many.
const char* write_request_v2_reader::read_labels(bytes_view refs) {
    assert(!refs.empty() && refs.data() >= body_.data() && refs.data() + refs.size() <= body_.data() + body_.size());
    const char* const end = refs.data() + refs.size();
    // Two references can be read up to here, and there are at least two.
    const char* const last = std::min(end - 2, body_.data() + body_.size() - 4);
    const symbol_entry* const symbols = symbols_.data();
    const std::uint32_t symbol_count =
        has_long_symbol_ ? 0 : static_cast<std::uint32_t>(std::min<std::size_t>(symbols_.size(), short_ref::end));
    const bool ignores_any = hasher_.ignores_any();
    return labels_(refs.data(), end, [=, this](const char* at, walked_label& walked) -> const char* {
        if (at > last) return nullptr;
        const short_ref name_ref{at};
        const short_ref value_ref{name_ref.after};
        if (name_ref.value >= symbol_count || value_ref.value >= symbol_count || value_ref.after > end) return nullptr;
        assert(name_ref.value < symbols_.size() && value_ref.value < symbols_.size());
        const symbol_entry& name = symbols[name_ref.value];
        const symbol_entry& value = symbols[value_ref.value];
        if (name.text.size == 0) return nullptr;
        walked = {.name = body_.data() + name.text.offset,
                  .name_order = name.name_order,
                  .hash = label_hash(name.hash, value.hash),
                  .name_size = name.text.size & 0x7fffffff,
                  .bytes = name.text.size + value.text.size};
        if (ignores_any) walked.is_ignored = hasher_.ignores(slice(body_, name.text));
        return value_ref.after;
    });
}

void write_request_v2_reader::check_label_ref(std::uint64_t ref, label_refs& seen) noexcept {
    if (left_out_) return;  // the first fault is enough
    if (ref >= symbols_.size()) return leave_out(series_fault::unknown_symbol);
    const std::size_t size = symbols_[ref].text.size;
    if (size > label_bytes_max) return leave_out(series_fault::label_too_long);
    seen.bytes += size;
    seen.is_odd = true;
    seen.is_value_next = !seen.is_value_next;
    if (!seen.is_value_next) return;
    if (size == 0) return leave_out(series_fault::label_without_name);
    if (seen.count == labels_per_series_max) return leave_out(series_fault::too_many_labels);
    ++seen.count;
}

fault write_request_v2_reader::read_series(bytes_view payload) {
    series_.labels_hash = series_.ignored_hash = 0;
    series_.samples = series_.histograms = series_.exemplars = 0;
    series_.admits = false;
    left_out_.reset();
    const std::size_t symbol_bytes_before = symbol_bytes_;

    label_refs seen;
    const char* const end = payload.data() + payload.size();
    const char* const at = read_plain_beginning(payload, seen);
    const bytes_view rest{at, static_cast<std::size_t>(end - at)};
    if (rest == last_metadata_)
        symbol_bytes_ += last_metadata_symbol_bytes_;
    else if (auto wrong = read_records(rest, seen))
        return wrong;
    if (seen.is_value_next) leave_out(series_fault::odd_symbol_refs);
    if (seen.bytes > label_bytes_per_series_max) leave_out(series_fault::labels_too_long);
    assert(seen.count <= labels_per_series_max);
    if (left_out_) [[unlikely]] {
        left_out_->take_counts(series_);
        symbol_bytes_ = symbol_bytes_before;  // it is not forwarded
        return {};
    }
    symbol_bytes_ += seen.bytes + seen.count * label_frame_bytes;
    if (seen.is_odd) [[unlikely]] {
        labels(series_.record, odd_labels_);
        if (!take_odd_hashes()) return {wire_errc::unordered_labels_over_limit, payload.data()};
    }
    return {};
}

/// Reads the usual beginning: one run of references to labels in ascending order, and a sample.
/// @return the byte after the part read, possibly none.
const char* write_request_v2_reader::read_plain_beginning(bytes_view payload, label_refs& seen) {
    const char* const begin = payload.data();
    if (payload.size() < 2 || *begin != '\x0a') return begin;
    const std::size_t size = static_cast<unsigned char>(begin[1]);
    if (size == 0 || size >= 0x80 || size + 2 > payload.size()) return begin;
    const char* const refs_end = begin + 2 + size;
    if (read_labels({begin + 2, size}) != refs_end || !labels_.is_ascending()) return begin;
    seen = {.count = labels_.count(), .bytes = labels_.bytes()};
    take_hashes();

    std::uint64_t value = 0;
    const char* const sample_end = read_plain_sample(refs_end, begin + payload.size(), value);
    if (sample_end == nullptr) return refs_end;
    series_.samples = 1;
    series_.admits = value != stale_marker_bits;
    return sample_end;
}

fault write_request_v2_reader::read_records(bytes_view records, label_refs& seen) {
    const char* const end = records.data() + records.size();
    const auto check = [this, &seen](std::uint64_t ref) noexcept { check_label_ref(ref, seen); };
    field_cursor fields{records};
    while (fields.next()) switch (fields.tag()) {
            case tag_of(1, len): {
                bytes_view refs = fields.read_bytes();
                if (seen.count == 0 && !refs.empty()) {
                    const char* const after = read_labels(refs);
                    refs.remove_prefix(static_cast<std::size_t>(after - refs.data()));
                    seen = {.count = labels_.count(), .bytes = labels_.bytes(), .is_odd = !labels_.is_ascending()};
                    take_hashes();
                }
                if (refs.empty()) break;
                if (auto wrong = for_each_ref(refs, check)) return wrong;
                break;
            }
            case tag_of(1, varint): {
                const std::uint64_t ref = fields.read_varint_value();
                if (!fields.failed()) check(ref);
                break;
            }
            case tag_of(2, len): {
                std::uint64_t value = 0;
                if (const char* const after = read_plain_sample(fields.field_start(), end, value)) {
                    fields.resume_at(after);
                } else if (auto wrong = read_sample(fields.read_bytes(), sample_form_v2, value))
                    return wrong;
                ++series_.samples;
                series_.admits |= value != stale_marker_bits;
                break;
            }
            case tag_of(3, len): {
                std::uint64_t sum = 0;
                if (auto wrong = check_histogram(fields.read_bytes(), histogram_form_v2, sum)) return wrong;
                ++series_.histograms;
                series_.admits |= sum != stale_marker_bits;
                break;
            }
            case tag_of(4, len):
                if (auto wrong = check_exemplar(fields.read_bytes())) return wrong;
                ++series_.exemplars;
                break;
            case tag_of(5, len): {  // repeated: parsers merge the two
                const char* const start = fields.field_start();
                const std::size_t symbol_bytes_before = symbol_bytes_;
                if (auto wrong = check_metadata(fields.read_bytes())) return wrong;
                if (left_out_) break;
                last_metadata_ = {start, static_cast<std::size_t>(fields.position() - start)};
                last_metadata_symbol_bytes_ = symbol_bytes_ - symbol_bytes_before;
                break;
            }
            case tag_of(6, varint):  // created_timestamp up to rc.3, which some stores still read
                fields.read_varint_value();
                break;
            default:
                fields.skip_unknown(known_fields(1, 2, 3, 4, 5, 6));
        }
    return fault_of(fields);
}

void write_request_v2_reader::labels(byte_range record, std::vector<label_view>& labels) const {
    assert(record.end() <= body_.size());
    labels.clear();
    bool half = false;
    const auto take = [&](std::uint64_t ref) {
        const bytes_view text = ref < symbols_.size() ? symbol(ref) : bytes_view{};  // of an entry with a fault
        if (half)
            labels.back().value = text;
        else if (labels.size() < labels_per_series_max)
            labels.push_back({text, {}});
        else
            return;
        half = !half;
    };
    field_cursor entry{slice(body_, record)};
    entry.next();
    field_cursor fields{entry.read_bytes()};
    while (fields.next()) switch (fields.tag()) {
            case tag_of(1, len):
                for_each_ref(fields.read_bytes(), take);
                break;
            case tag_of(1, varint):
                take(fields.read_varint_value());
                break;
            default:
                fields.skip_unknown(0);
        }
    assert(!fields.failed());  // it has been read before
}

std::size_t write_request_v2_reader::bytes() const noexcept {
    return held_bytes(symbols_) + held_bytes(records_);
}

void write_request_v2_reader::shrink() {
    shrink_labels();
    give_back_all(symbols_, records_);
}

void write_request_v2_reader::fail(wire_errc code, const char* at) noexcept {
    note_error(code, at);
    // Nothing of an invalid request is used.
    next_ = records_.size();
}

void write_request_v2_reader::check_ref(std::uint64_t ref) noexcept {
    if (ref >= symbols_.size()) return leave_out(series_fault::unknown_symbol);
    symbol_bytes_ += symbols_[ref].text.size;
}

fault write_request_v2_reader::check_exemplar(bytes_view exemplar) noexcept {
    std::size_t count = 0;
    const auto take = [&, this](std::uint64_t ref) noexcept {
        ++count;
        check_ref(ref);
    };
    field_cursor fields{exemplar};
    while (fields.next()) switch (fields.tag()) {
            case tag_of(1, len):
                if (auto wrong = for_each_ref(fields.read_bytes(), take)) return wrong;
                break;
            case tag_of(1, varint): {
                const std::uint64_t ref = fields.read_varint_value();
                if (!fields.failed()) take(ref);
                break;
            }
            default:
                fields.skip(exemplar_form_v2);
        }
    if (fields.failed()) return fault_of(fields);
    if (count % 2 != 0) leave_out(series_fault::odd_symbol_refs);
    symbol_bytes_ += count / 2 * label_frame_bytes;
    return {};
}

fault write_request_v2_reader::check_metadata(bytes_view metadata) noexcept {
    field_cursor fields{metadata};
    while (fields.next()) switch (fields.tag()) {
            case tag_of(1, varint):  // type
                fields.read_varint_value();
                break;
            case tag_of(3, varint):    // help_ref
            case tag_of(4, varint): {  // unit_ref
                const std::uint64_t ref = fields.read_varint_value();
                if (!fields.failed()) check_ref(ref);
                break;
            }
            default:
                fields.skip_unknown(known_fields(1, 3, 4));
        }
    return fault_of(fields);
}

}  // namespace seriesgate
