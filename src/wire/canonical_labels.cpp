#include "wire/canonical_labels.hpp"

namespace seriesgate {
namespace {

/// Whatever a short label record says of its name's size, its value's head is no farther, and neither are eight bytes
/// of its name.
constexpr std::ptrdiff_t readable_min = 4 + 127 + 2;

/// A length-delimited field in its shortest encoding. @return the byte after it; nullptr if it is something else.
const char* read_text(const char* at, const char* end, char tag, bytes_view& text) noexcept {
    if (at == end || *at != tag) return nullptr;
    std::uint64_t size = 0;
    const char* const payload = read_varint(at + 1, end, size);
    if (payload == nullptr || payload - at - 1 != varint_size(size) || size > static_cast<std::uint64_t>(end - payload))
        return nullptr;
    text = {payload, static_cast<std::size_t>(size)};
    return payload + size;
}

/// Any label of a canonical set. @return the byte after it; nullptr if it is something else.
const char* read_canonical_label(const char* at, const char* end, label_view& label) noexcept {
    bytes_view record;
    const char* const after = read_text(at, end, '\x0a', record);
    if (after == nullptr) return nullptr;
    const char* const name_end = read_text(record.data(), after, '\x0a', label.name);
    if (name_end == nullptr || read_text(name_end, after, '\x12', label.value) != after) return nullptr;
    if (label.value.empty() || label.name.size() > label_bytes_max || label.value.size() > label_bytes_max)
        return nullptr;
    return after;
}

/// How far a label set has been read.
struct progress {
    const char* at;
    std::uint64_t prefix;  ///< of the last name
    const char* name;
    std::size_t name_size;
};

/// As far as labels are 0x0a size 0x0a name_size name 0x12 value_size value, with all sizes below 128: nearly all are.
/// @param end no more than `readable_min` before the end of the body.
inline progress read_short_labels(progress done, const char* const fast_end, const char* const end) noexcept {
    while (done.at < fast_end) {
        std::uint32_t head = 0;
        std::memcpy(&head, done.at, sizeof head);
        if ((head & 0x80ff80ffu) != 0x000a000au) break;
        const std::size_t name_size = head >> 24;
        const char* const name = done.at + 4;
        const char* const value = name + name_size + 2;
        const char* const after = done.at + 2 + (head >> 8 & 0x7f);
        std::uint16_t value_head = 0;
        std::memcpy(&value_head, value - 2, sizeof value_head);
        // If the sizes do not fit each other, the difference is more than eight bits.
        const auto value_size = static_cast<std::size_t>(after - value);
        if (value_head != (0x12 | value_size << 8) || value_head <= 0xff || after > end) break;
        const std::uint64_t prefix = prefix_of(name, name_size);
        if (prefix <= done.prefix) [[unlikely]]
            if (prefix < done.prefix || !is_before({done.name, done.name_size}, {name, name_size})) break;
        done = {after, prefix, name, name_size};
    }
    return done;
}

/// One label of any size. @return `done` if there is none that the set goes on with.
[[gnu::noinline]] progress read_any_label(const progress& done, const char* end) noexcept {
    label_view label;
    const char* const after = read_canonical_label(done.at, end, label);
    if (after == nullptr || !is_before({done.name, done.name_size}, label.name)) return done;
    return {after, prefix_of(label.name), label.name.data(), label.name.size()};
}

}  // namespace

const char* canonical_labels_end(const char* at, const char* end, const char* body_end) noexcept {
    const char* const fast_end = std::min(end, body_end - std::min(readable_min, body_end - at));
    progress done{at, 0, nullptr, 0};
    for (;;) {
        done = read_short_labels(done, fast_end, end);
        if (done.at == end || *done.at != 0x0a) return done.at;
        const progress next = read_any_label(done, end);
        if (next.at == done.at) return done.at;
        done = next;
    }
}

bool is_before(bytes_view a, bytes_view b) noexcept {
    return a < b;
}

void label_run_buffer::grow(std::size_t size) {
    const std::size_t grown = std::max(size, 2 * capacity_);
    auto bytes = std::make_unique_for_overwrite<char[]>(grown);
    std::copy_n(bytes_.get(), size_, bytes.get());
    bytes_ = std::move(bytes);
    capacity_ = grown;
}

void append_labels(bytes_view run, std::vector<label_view>& labels) {
    const char* const end = run.data() + run.size();
    for (const char* at = run.data(); at != end;) at = read_canonical_label(at, end, labels.emplace_back());
}

std::span<const label_view> labels_of(const series_view& series, std::vector<label_view>& buffer) {
    if (series.label_run.empty()) return series.labels;
    buffer.clear();
    append_labels(series.label_run, buffer);
    return buffer;
}

}  // namespace seriesgate
