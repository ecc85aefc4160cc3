#include "wire/write_request_v2.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace seriesgate {
namespace {

constexpr auto len = wire_type::len;
constexpr auto varint = wire_type::varint;
constexpr auto fixed64 = wire_type::fixed64;

/// A reference as most are: below 2^14, in one or two bytes.
const char* read_ref(const char* at, const char* end, std::uint64_t& ref) noexcept {
    const auto byte = [](const char* p) { return static_cast<unsigned char>(*p); };
    if (byte(at) < 0x80) {
        ref = byte(at);
        return at + 1;
    }
    if (end - at >= 2 && byte(at + 1) < 0x80) {
        ref = (byte(at) & 0x7fu) | static_cast<unsigned>(byte(at + 1)) << 7;
        return at + 2;
    }
    return read_varint(at, end, ref);
}

/// Of a symbol, and of a label record without its head.
constexpr std::size_t short_size_max = 127;
constexpr std::size_t short_record_max = short_size_max + 2;

/// A reference of one or two bytes, told without a branch: which it is has no pattern.
struct short_ref {
    std::uint32_t value;
    const char* after;
    bool good;

    explicit short_ref(const char* at) noexcept {
        std::uint16_t bytes = 0;
        std::memcpy(&bytes, at, sizeof bytes);
        const unsigned more = bytes >> 7 & 1;
        value = (bytes & 0x7fu) | ((bytes >> 8 & 0x7fu) << 7 & (0u - more));
        after = at + 1 + more;
        good = (more & bytes >> 15) == 0;
    }
};

/// @param size up to short_size_max; as many bytes more than that may be read and written.
inline void copy_short(char* out, const char* text, std::size_t size) noexcept {
    std::memcpy(out, text, 32);
    if (size > 32) [[unlikely]]
        std::memcpy(out + 32, text + 32, short_size_max + 1 - 32);
}

/// Calls `take(ref, where it stands)` for each reference of a packed run, until it returns a fault.
template <class Take>
fault for_each_ref(bytes_view packed, Take take) noexcept(noexcept(take(0, nullptr))) {
    const char* const end = packed.data() + packed.size();
    for (const char* at = packed.data(); at != end;) {
        const char* const start = at;
        std::uint64_t ref = 0;
        at = read_ref(at, end, ref);
        if (at == nullptr) return {wire_errc::packed_truncated, start};
        if (auto wrong = take(ref, start)) return wrong;
    }
    return {};
}

}  // namespace

void write_request_v2_reader::reset(bytes_view body, std::size_t symbol_bytes_max) {
    assert(body.size() <= decoded_bytes_limit);
    body_ = body;
    symbols_.clear();
    records_.clear();
    next_ = 0;
    symbol_bytes_ = 0;
    symbol_bytes_max_ = symbol_bytes_max;
    error_ = {};

    const auto range_of = [body](const char* begin, const char* end) {
        return byte_range{static_cast<std::uint32_t>(begin - body.data()), static_cast<std::uint32_t>(end - begin)};
    };
    field_cursor fields{body};
    while (fields.next()) switch (fields.tag()) {
            case tag_of(4, len): {
                const bytes_view symbol = fields.read_bytes();
                if (fields.failed()) break;
                if (symbols_.size() == symbols_per_request_max)
                    return fail(wire_errc::symbols_over_limit, fields.field_start());
                symbols_.push_back(range_of(symbol.data(), symbol.data() + symbol.size()));
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
            case tag_of(3, len):  // unknown to v2's parsers, but a store that only knows v1 finds its series here
                return fail(wire_errc::field_of_version_1, fields.field_start());
            default:
                fields.skip_unknown(known_fields(1, 2, 3, 4, 5));
        }
    if (fields.failed()) fail(fields.error(), fields.field_start());
    symbols_have_room_ = !symbols_.empty() && symbols_.back().end() + short_size_max + 1 <= body.size();
}

bool write_request_v2_reader::next() {
    if (next_ >= records_.size() || !go_to(next_)) return false;
    symbol_bytes_ += label_bytes_;
    if (symbol_bytes_ <= symbol_bytes_max_) return true;
    fail(wire_errc::request_symbol_bytes_over_limit, body_.data() + series_.record.offset);
    return false;
}

bool write_request_v2_reader::go_to(std::size_t entry) {
    assert(entry < records_.size());
    if (failed()) return false;
    next_ = entry + 1;
    series_.record = records_[entry];
    field_cursor record{slice(body_, series_.record)};
    record.next();  // reset() has read it before: it cannot fail
    if (auto wrong = read_series(record.read_bytes())) {
        fail(wrong.code, wrong.at);
        return false;
    }
    return true;
}

/// Takes labels that go on with the canonical set, as long as references have one or two bytes, and symbols and records
/// less than 128: nearly all. @return how many bytes of the references that are.
std::size_t write_request_v2_reader::take_short_labels(bytes_view refs) {
    const char* at = refs.data();
    const char* const end = at + refs.size();
    const std::size_t count_max =
        std::min(static_cast<std::size_t>(end - at) / 2, labels_per_series_max - label_count_);
    if (refs.size() < 2 || !symbols_have_room_ || !labels_.empty()) return 0;
    char* const begin = run_.reserve(count_max * short_record_max + short_size_max);
    char* out = begin;
    const byte_range* const symbols = symbols_.data();
    const auto symbol_count = static_cast<std::uint32_t>(symbols_.size());
    const char* const last = std::min(end - 2, body_.data() + body_.size() - 4);
    const char* name_at = name_.data();
    std::size_t name_size = name_.size();
    std::uint64_t previous = name_prefix_;
    std::size_t count = 0;
    while (count < count_max && at <= last) {
        const short_ref name_ref{at};
        const short_ref value_ref{name_ref.after};
        if (!name_ref.good || !value_ref.good || value_ref.after > end) break;
        if (name_ref.value >= symbol_count || value_ref.value >= symbol_count) break;
        const byte_range name = symbols[name_ref.value];
        const byte_range value = symbols[value_ref.value];
        const std::size_t size = std::size_t{name.size} + value.size + 4;
        if (size > short_size_max || value.size == 0) break;
        const char* const text = body_.data() + name.offset;
        const std::uint64_t prefix = prefix_of(text, name.size);
        if (prefix <= previous) [[unlikely]]
            if (prefix < previous || !is_before({name_at, name_size}, {text, name.size})) break;
        previous = prefix;
        name_at = text;
        name_size = name.size;
        const std::uint32_t head = 0x000a000au | static_cast<std::uint32_t>(size) << 8 | name.size << 24;
        std::memcpy(out, &head, sizeof head);
        copy_short(out + 4, text, name.size);
        out += 4 + name.size;
        const auto value_head = static_cast<std::uint16_t>(0x12u | value.size << 8);
        std::memcpy(out, &value_head, sizeof value_head);
        copy_short(out + 2, body_.data() + value.offset, value.size);
        out += 2 + value.size;
        at = value_ref.after;
        ++count;
    }
    const auto written = static_cast<std::size_t>(out - begin);
    run_.take(written);
    name_prefix_ = previous;
    name_ = {name_at, name_size};
    label_count_ += count;
    label_bytes_ += written - count * 6;  // without the heads
    return static_cast<std::size_t>(at - refs.data());
}

/// To the run, as long as it is one.
inline void write_request_v2_reader::add_label(const label_view& label) {
    if (labels_.empty()) [[likely]] {
        const bytes_view name = label.name;
        const bool plain = name.size() < 128 && body_.data() + body_.size() - name.data() >= 8;
        const std::uint64_t prefix = plain ? prefix_of(name.data(), name.size()) : prefix_of(name);
        if (!label.value.empty() && (prefix > name_prefix_ || (prefix == name_prefix_ && name_ < name))) [[likely]] {
            name_prefix_ = prefix;
            name_ = name;
            run_.append(label);
            return;
        }
        append_labels(run_.view(), labels_);  // they stay where they have been written
        run_.clear();
    }
    labels_.push_back(label);
}

/// The references of all runs of a series, one after the other: name, value, name, value.
inline fault write_request_v2_reader::take_label_ref(std::uint64_t ref, const char* at, half_label& half) {
    if (ref >= symbols_.size()) return {wire_errc::symbol_ref_out_of_range, at};
    const bytes_view symbol = slice(body_, symbols_[ref]);
    if (symbol.size() > label_bytes_max) return {wire_errc::label_bytes_over_limit, at};
    label_bytes_ += symbol.size();
    if (half.at != nullptr) {
        add_label({half.name, symbol});
        half.at = nullptr;
        return {};
    }
    if (symbol.empty()) return {wire_errc::label_without_name, at};
    if (label_count_ == labels_per_series_max) return {wire_errc::labels_over_limit, at};
    ++label_count_;
    half = {symbol, at};
    return {};
}

fault write_request_v2_reader::read_series(bytes_view payload) {
    labels_.clear();
    run_.clear();
    name_prefix_ = 0;
    name_ = {};
    label_count_ = 0;
    label_bytes_ = 0;
    series_.samples = series_.histograms = series_.exemplars = 0;
    series_.admits = false;

    const char* const end = payload.data() + payload.size();
    half_label half;
    const auto take = [this, &half](std::uint64_t ref, const char* at) { return take_label_ref(ref, at, half); };
    field_cursor fields{payload};
    while (fields.next()) switch (fields.tag()) {
            case tag_of(1, len): {
                bytes_view refs = fields.read_bytes();
                if (half.at == nullptr) refs.remove_prefix(take_short_labels(refs));
                if (refs.empty()) break;
                if (auto wrong = for_each_ref(refs, take)) return wrong;
                break;
            }
            case tag_of(1, varint): {
                const char* const start = fields.position();
                const std::uint64_t ref = fields.read_varint_value();
                if (fields.failed()) break;
                if (auto wrong = take(ref, start)) return wrong;
                break;
            }
            case tag_of(2, len): {
                std::uint64_t value = 0;
                if (const char* const after = read_plain_sample(fields.field_start(), end, value)) {
                    fields.resume_at(after);
                } else if (auto wrong = read_sample(fields.read_bytes(), sample_fields_v2, value))
                    return wrong;
                ++series_.samples;
                series_.admits |= value != stale_marker_bits;
                break;
            }
            case tag_of(3, len): {
                std::uint64_t sum = 0;
                if (auto wrong = check_histogram(fields.read_bytes(), histogram_fields_v2, sum)) return wrong;
                ++series_.histograms;
                series_.admits |= sum != stale_marker_bits;
                break;
            }
            case tag_of(4, len):
                if (auto wrong = check_exemplar(fields.read_bytes())) return wrong;
                ++series_.exemplars;
                break;
            case tag_of(5, len):  // comes twice: parsers merge the two
                if (auto wrong = check_metadata(fields.read_bytes())) return wrong;
                break;
            case tag_of(6, varint):  // created_timestamp up to rc.3, which some stores still read
                fields.read_varint_value();
                break;
            default:
                fields.skip_unknown(known_fields(1, 2, 3, 4, 5, 6));
        }
    if (fields.failed()) return fault_of(fields);
    if (half.at != nullptr) return {wire_errc::symbol_refs_odd, half.at};
    if (label_bytes_ > label_bytes_per_series_max) return {wire_errc::series_label_bytes_over_limit, payload.data()};
    series_.labels = labels_;
    series_.label_run = run_.view();
    return {};
}

fault write_request_v2_reader::check_ref(std::uint64_t ref, const char* at) noexcept {
    if (ref >= symbols_.size()) return {wire_errc::symbol_ref_out_of_range, at};
    symbol_bytes_ += symbols_[ref].size;
    return {};
}

fault write_request_v2_reader::check_exemplar(bytes_view exemplar) noexcept {
    const char* last = nullptr;
    std::size_t count = 0;
    const auto take = [&, this](std::uint64_t ref, const char* at) noexcept {
        last = at;
        ++count;
        return check_ref(ref, at);
    };
    field_cursor fields{exemplar};
    while (fields.next()) switch (fields.tag()) {
            case tag_of(1, len):
                if (auto wrong = for_each_ref(fields.read_bytes(), take)) return wrong;
                break;
            case tag_of(1, varint): {
                const char* const start = fields.position();
                const std::uint64_t ref = fields.read_varint_value();
                if (fields.failed()) break;
                if (auto wrong = take(ref, start)) return wrong;
                break;
            }
            case tag_of(2, fixed64):  // value
                fields.read_fixed64();
                break;
            case tag_of(3, varint):  // timestamp
                fields.read_varint_value();
                break;
            default:
                fields.skip_unknown(known_fields(1, 2, 3));
        }
    if (fields.failed()) return fault_of(fields);
    if (count % 2 != 0) return {wire_errc::symbol_refs_odd, last};
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
                const char* const start = fields.position();
                const std::uint64_t ref = fields.read_varint_value();
                if (fields.failed()) break;
                if (auto wrong = check_ref(ref, start)) return wrong;
                break;
            }
            default:
                fields.skip_unknown(known_fields(1, 3, 4));
        }
    return fault_of(fields);
}

void write_request_v2_reader::fail(wire_errc code, const char* at) noexcept {
    error_ = {code, static_cast<std::uint64_t>(at - body_.data())};
    // What has been seen of a wrong request is not for use.
    next_ = records_.size();
}

}  // namespace seriesgate
