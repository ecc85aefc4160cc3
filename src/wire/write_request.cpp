#include "wire/write_request.hpp"

#include <algorithm>
#include <cassert>

namespace seriesgate {
namespace {

using enum wire_type;

static_assert(label_walk::remembered_max <= labels_per_series_max);  // so these need no count

/// A repeated field: the last one counts, as in every parser.
fault parse_label(bytes_view payload, label_view& label) noexcept {
    label = {};
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
    return fault_of(fields);
}

std::optional<series_fault> fault_of(const label_view& label) noexcept {
    if (label.name.empty()) return series_fault::label_without_name;
    if (label.name.size() > label_bytes_max || label.value.size() > label_bytes_max)
        return series_fault::label_too_long;
    return {};
}

/// Reads a label of the usual form: 0x0a size 0x0a name_size name 0x12 value_size value, with sizes below 128.
/// @return the byte after it, with eight readable bytes of name; nullptr for another form.
inline const char* read_short_label(const char* at, const char* end, label_view& label) noexcept {
    if (end - at < 16) return nullptr;
    std::uint32_t head = 0;
    std::memcpy(&head, at, sizeof head);
    const std::size_t size = head >> 8 & 0xff;
    const std::size_t name_size = head >> 24;
    if ((head & 0x80ff80ffu) != 0x000a000au || name_size == 0 || name_size + 4 > size ||
        size + 2 > static_cast<std::size_t>(end - at))
        return nullptr;
    const char* const name = at + 4;
    const char* const value = name + name_size + 2;
    const std::size_t value_size = size - name_size - 4;
    std::uint16_t value_head = 0;
    std::memcpy(&value_head, value - 2, sizeof value_head);
    if (value_head != (0x12 | value_size << 8)) return nullptr;
    label = {{name, name_size}, {value, value_size}};
    return value + value_size;
}

/// Reads a label of any form. @return the byte after it; nullptr if it is invalid.
[[gnu::noinline]] const char* read_any_label(const char* at, const char* end, label_view& label) noexcept {
    field_cursor fields{{at, static_cast<std::size_t>(end - at)}};
    fields.next();
    const bytes_view payload = fields.read_bytes();
    return fields.failed() || parse_label(payload, label) || fault_of(label) ? nullptr : fields.position();
}

/// Prefetch distance. Lookups first jump from entry to entry; the processor does not recognize that as a stream.
constexpr std::size_t prefetch_bytes = 2'048;

/// Changes the key under which the hash of ignored labels is stored.
constexpr std::uint64_t ignored_key = 0x5851f42d4c957f2c;

/// Keys computed at a time: the first lookups load while the others are hashed.
constexpr std::size_t keyed_at_once = 4;

/// @param at may lie after the end: nothing is read.
void prefetch_entry_at(const char* at, std::size_t size) noexcept {
    constexpr std::size_t cache_line = 64;
    for (std::size_t line = 0; line < size; line += cache_line) __builtin_prefetch(at + line);
}

/// But for the labels: value, timestamp.
constexpr message_form exemplar_form{
    .varints = known_fields(3), .fixed64s = known_fields(2), .lengths = known_fields(1)};
/// type; metric_family_name, help, unit
constexpr message_form metadata_form{.varints = known_fields(1), .lengths = known_fields(2, 4, 5)};

fault check_exemplar(bytes_view exemplar) noexcept {
    label_view label;  // it only has to be well formed
    field_cursor fields{exemplar};
    while (fields.next()) {
        if (fields.tag() != tag_of(1, len))
            fields.skip(exemplar_form);
        else if (auto wrong = parse_label(fields.read_bytes(), label))
            return wrong;
    }
    return fault_of(fields);
}

}  // namespace

void write_request_reader::reset(bytes_view body) noexcept {
    take_body(body);
    fields_ = field_cursor{body};
    credit_.pass(series_count_);
    series_count_ = 0;
    ahead_at_ = ahead_count_ = 0;
}

bool write_request_reader::read_next() {
    while (fields_.next()) switch (fields_.tag()) {
            case tag_of(1, len): {
                const char* const start = fields_.field_start();
                const bytes_view payload = fields_.read_bytes();
                if (fields_.failed()) break;
                return begin_series(start, payload) && read_series(payload);
            }
            case tag_of(3, len):
                if (auto wrong = check_message(fields_.read_bytes(), metadata_form)) return fail(wrong.code, wrong.at);
                ++metadata_;
                break;
            case tag_of(4, len):  // unknown in version 1, but a store that guesses finds version 2's fields here
            case tag_of(5, len):
                return fail(wire_errc::field_of_version_2, fields_.field_start());
            default:
                fields_.skip_unknown(known_fields(1, 3));
        }
    if (fields_.failed() && !failed()) return fail(fields_.error(), fields_.field_start());
    return false;
}

/// Looks up the next entries, up to another field.
/// @return whether there are any. An error after them is reported after them.
bool write_request_reader::look_ahead() noexcept {
    ahead_at_ = ahead_count_ = 0;
    if (known_ == nullptr || !credit_.is_given()) return false;
    while (ahead_count_ < ahead_max && fields_.is_before(tag_of(1, len)) && fields_.next()) {
        entry_ahead& entry = ahead_[ahead_count_];
        entry.start = fields_.field_start();
        entry.payload = fields_.read_bytes();
        if (fields_.failed()) break;
        prefetch_entry_at(entry.start + prefetch_bytes, std::min(entry.payload.size(), keyed_bytes_max));
        const bytes_view labels = labels_before_plain_sample(entry.payload, entry.value);
        ahead_labels_[ahead_count_++] = labels.size() <= keyed_bytes_max ? labels : bytes_view{};
    }
    for (std::size_t i = 0; i < ahead_count_; i += keyed_at_once) {
        const std::size_t end = std::min(i + keyed_at_once, ahead_count_);
        labels_keys({ahead_labels_.data() + i, end - i}, hasher_.key(), ahead_keys_.data() + i);
        for (std::size_t j = i; j < end; ++j) known_->prefetch(ahead_keys_[j]);
    }
    for (std::size_t i = 0; i < ahead_count_; ++i)
        ahead_[i].is_known = ahead_keys_[i] != 0 && known_->find(ahead_keys_[i], ahead_[i].labels_hash);
    if (hasher_.ignores_any())
        for (std::size_t i = 0; i < ahead_count_; ++i)
            ahead_[i].is_known =
                ahead_[i].is_known && known_->find(ahead_keys_[i] ^ ignored_key, ahead_[i].ignored_hash);
    return ahead_count_ != 0;
}

/// A known entry needs no reading: its labels were read before, and its sample has been checked.
bool write_request_reader::take_ahead() {
    const std::size_t at = ahead_at_++;
    const entry_ahead& entry = ahead_[at];
    if (!begin_series(entry.start, entry.payload)) return false;
    if (entry.is_known) [[likely]] {
        credit_.add();
        series_.labels_hash = entry.labels_hash;
        if (hasher_.ignores_any()) series_.ignored_hash = entry.ignored_hash;
        series_.samples = 1;
        series_.histograms = series_.exemplars = 0;
        series_.admits = entry.value != stale_marker_bits;
        return true;
    }
    if (!read_series(entry.payload)) return false;
    if (ahead_keys_[at] == 0) return true;
    // There may be more between the labels and the last sample. Only what was read is learned.
    const bool is_all = labels_end_ == ahead_labels_[at].data() + ahead_labels_[at].size();
    if (!is_all || !learn(ahead_keys_[at])) credit_.take();
    return true;
}

/// The hash of ignored labels is learned under a separate key, which real labels have only by chance.
bool write_request_reader::learn(std::uint64_t key) noexcept {
    if (!known_->learn(key, series_.labels_hash, credit_.displaces())) return false;
    return !hasher_.ignores_any() || known_->learn(key ^ ignored_key, series_.ignored_hash, credit_.displaces());
}

/// @return false if there are too many entries.
bool write_request_reader::begin_series(const char* start, bytes_view payload) noexcept {
    if (++series_count_ > series_per_request_max) return fail(wire_errc::series_over_limit, start);
    const char* const end = payload.data() + payload.size();
    series_.record = {static_cast<std::uint32_t>(start - body_.data()), static_cast<std::uint32_t>(end - start)};
    assert(series_.record.end() <= body_.size() && series_.record.size >= payload.size() + 2);
    return true;
}

/// Reads the usual form: labels in ascending order, and one sample.
bool write_request_reader::read_series(bytes_view payload) {
    series_.samples = series_.histograms = series_.exemplars = 0;
    const char* const end = payload.data() + payload.size();
    const char* const labels_end = read_labels(payload.data(), end);
    assert(labels_end >= payload.data() && labels_end <= end);
    labels_end_ = labels_end;
    take_hashes();
    std::uint64_t value = 0;
    if (is_plain_sample(labels_end, end, value)) [[likely]] {
        series_.samples = 1;
        series_.admits = value != stale_marker_bits;
        return labels_.is_ascending() || hash_odd_labels();
    }
    return read_records({labels_end, static_cast<std::size_t>(end - labels_end)});
}

/// @return the byte after the leading labels; the start of the first label that is invalid or one too many.
const char* write_request_reader::read_labels(const char* at, const char* end) {
    const bool ignores_any = hasher_.ignores_any();
    const unsigned char* const secret = hasher_.secret();
    // Flattened: otherwise XXH3 with a secret is a call; four of them a sample are 4 % of its instructions.
    const auto read = [ this, end, ignores_any, secret ](const char* from,
                                                         walked_label& walked) __attribute__((flatten))->const char* {
        if (from == end || *from != '\x0a') return nullptr;
        label_view label;
        const char* after = read_short_label(from, end, label);
        if (after != nullptr) [[likely]] {
            walked.name_order = name_order_of(label.name.data(), label.name.size());
        } else {
            after = read_any_label(from, end, label);
            if (after == nullptr) return nullptr;
            walked.name_order = name_order_of(label.name);
        }
        walked.name = label.name.data();
        walked.name_size = static_cast<std::uint32_t>(label.name.size()) & 0x7fffffff;
        walked.hash = label_hash(text_hash(label.name, secret), text_hash(label.value, secret));
        if (ignores_any) walked.is_ignored = hasher_.ignores(label.name);
        return after;
    };
    return labels_(at, end, read);
}

/// Reads everything after the leading labels, including further labels.
bool write_request_reader::read_records(bytes_view records) {
    series_.admits = false;
    left_out_.reset();
    std::size_t label_count = labels_.count();
    bool is_odd = !labels_.is_ascending();
    field_cursor fields{records};
    while (fields.next()) switch (fields.tag()) {
            case tag_of(1, len): {
                const bytes_view payload = fields.read_bytes();
                if (fields.failed()) break;
                label_view label;
                if (auto wrong = parse_label(payload, label)) return fail(wrong.code, wrong.at);
                if (const auto fault = fault_of(label)) leave_out(*fault);
                if (label_count == labels_per_series_max) leave_out(series_fault::too_many_labels);
                ++label_count;
                is_odd = true;
                break;
            }
            case tag_of(2, len): {
                std::uint64_t value = 0;
                if (auto wrong = read_sample(fields.read_bytes(), sample_form_v1, value))
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
                if (auto wrong = check_histogram(fields.read_bytes(), histogram_form_v1, sum))
                    return fail(wrong.code, wrong.at);
                ++series_.histograms;
                series_.admits |= sum != stale_marker_bits;
                break;
            }
            default:
                fields.skip_unknown(known_fields(1, 2, 3, 4));
        }
    if (fields.failed()) return fail(fields.error(), fields.field_start());
    if (left_out_) {
        left_out_->take_counts(series_);
    } else if (is_odd) {
        assert(label_count <= labels_per_series_max);
        return hash_odd_labels();
    }
    return true;
}

[[gnu::noinline]] bool write_request_reader::hash_odd_labels() {
    labels(series_.record, odd_labels_);
    assert(odd_labels_.size() >= labels_.count());
    return take_odd_hashes() || fail(wire_errc::unordered_labels_over_limit, body_.data() + series_.record.offset);
}

void write_request_reader::labels(byte_range record, std::vector<label_view>& labels) const {
    assert(record.end() <= body_.size());
    labels.clear();
    field_cursor entry{slice(body_, record)};
    [[maybe_unused]] const bool is_there = entry.next();
    assert(is_there && entry.tag() == tag_of(1, len));
    field_cursor fields{entry.read_bytes()};
    while (labels.size() < labels_per_series_max && fields.next()) {
        if (fields.tag() == tag_of(1, len))
            parse_label(fields.read_bytes(), labels.emplace_back());
        else
            fields.skip_unknown(0);
    }
    assert(!fields.failed());  // it has been read before
}

bool write_request_reader::fail(wire_errc code, const char* at) noexcept {
    note_error(code, at);
    fields_.fail(code);
    ahead_at_ = ahead_count_;
    return false;
}

}  // namespace seriesgate
