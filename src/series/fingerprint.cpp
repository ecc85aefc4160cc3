#include "series/fingerprint.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "series/selector.hpp"

namespace seriesgate {
namespace {

/// The first eight bytes of a name as a number that orders like the bytes; shorter names are padded with zeros.
/// Precondition: eight bytes can be read.
std::uint64_t prefix(bytes_view name) noexcept {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, name.data(), sizeof bytes);
    static_assert(std::endian::native == std::endian::little, "the prefix order is written for little-endian machines");
    bytes = __builtin_bswap64(bytes);
    return name.size() >= 8 ? bytes : bytes & ~(~std::uint64_t{0} >> (8 * name.size()));
}

/// Names strictly ascending. `end` is the end of the bytes that hold all names: most names can then be compared by
/// one load of eight bytes instead of a call of memcmp.
bool names_ascend(std::span<const label_view> labels, const char* end) noexcept {
    std::uint64_t previous = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const bytes_view name = labels[i].name;
        if (end - name.data() < 8) return i == 0 || labels[i - 1].name < name;  // only the last label can be that short
        const std::uint64_t current = prefix(name);
        if (i > 0 && current <= previous && (current < previous || !(labels[i - 1].name < name))) return false;
        previous = current;
    }
    return true;
}

/// As `<`; most names differ in their first byte.
bool is_before(bytes_view a, bytes_view b) noexcept {
    if (!a.empty() && !b.empty() && a[0] != b[0])
        return static_cast<unsigned char>(a[0]) < static_cast<unsigned char>(b[0]);
    return a < b;
}

/// Labels that are the canonical set already: names strictly ascending, no empty value.
bool is_canonical_set(std::span<const label_view> labels) noexcept {
    for (std::size_t i = 0; i < labels.size(); ++i) {
        if (labels[i].value.empty()) return false;
        if (i > 0 && !is_before(labels[i - 1].name, labels[i].name)) return false;
    }
    return true;
}

/// A label record is longer than its name and value by at most three tags and three lengths of five bytes.
constexpr std::size_t label_overhead_max = 3 * (1 + 5);

char* write_length(char* out, std::size_t length) noexcept {
    for (; length >= 0x80; length >>= 7) *out++ = static_cast<char>(length | 0x80);
    *out++ = static_cast<char>(length);
    return out;
}

/// Copies `size` bytes that are at least one Word and at most two.
template <std::size_t Word>
void copy_words(char* out, const char* text, std::size_t size) noexcept {
    std::memcpy(out, text, Word);
    std::memcpy(out + size - Word, text + size - Word, Word);
}

/// Tag, length and text. Most texts are short: copying them here saves the call of memcpy.
char* write_text(char* out, char tag, bytes_view text) noexcept {
    *out++ = tag;
    out = write_length(out, text.size());
    const std::size_t size = text.size();
    if (size >= 8 && size <= 16) {
        copy_words<8>(out, text.data(), size);
    } else if (size > 16 && size <= 32) {
        copy_words<16>(out, text.data(), size);
    } else if (size >= 4 && size < 8) {
        copy_words<4>(out, text.data(), size);
    } else {
        std::memcpy(out, text.data(), size);
    }
    return out + size;
}

char* write_label(char* out, const label_view& label) noexcept {
    const auto size = [](bytes_view text) {
        return 1u + static_cast<unsigned>(varint_size(text.size())) + text.size();
    };
    *out++ = '\x0a';
    out = write_length(out, size(label.name) + size(label.value));
    out = write_text(out, '\x0a', label.name);
    return write_text(out, '\x12', label.value);
}

constexpr bytes_view bucket_suffix{"_bucket"};

/// By which a metric's name may be that of a histogram's series; empty if it is not.
bytes_view suffix_of(bytes_view name) noexcept {
    for (const bytes_view suffix : {bucket_suffix, bytes_view{"_sum"}, bytes_view{"_count"}})
        if (name.size() > suffix.size() && name.ends_with(suffix)) return suffix;
    return {};
}

/// Keeps the fingerprint of a histogram apart from that of a series with the same labels.
constexpr std::uint64_t family_domain = 0xa0761d6478bd642f;

}  // namespace

std::uint64_t fingerprinter::operator()(const series_view& series, std::uint64_t seed) {
    const bytes_view run = series.label_run;
    const bool canonical =
        run.size() != 0 ? names_ascend(series.labels, run.data() + run.size()) : series.labels.empty();
    if (canonical && !has_ignored(series.labels)) [[likely]]
        return XXH3_64bits_withSeed(run.data(), run.size(), seed);
    const bytes_view written = write_canonical(series.labels);
    return XXH3_64bits_withSeed(written.data(), written.size(), seed);
}

histogram_family fingerprinter::family(std::span<const label_view> labels, std::uint64_t seed) {
    const bytes_view name = label_value(labels, "__name__");
    const bytes_view suffix = suffix_of(name);
    const bool is_bucket = suffix == bucket_suffix;
    if (suffix.empty() || (is_bucket && label_value(labels, "le").empty())) return {};
    common_.clear();
    for (const label_view& label : labels) {
        if (label.name == "le") continue;
        common_.push_back(label);
        if (label.name == "__name__" && label.value == name) common_.back().value.remove_suffix(suffix.size());
    }
    const bytes_view written = write_canonical(common_);
    const std::uint64_t hash = XXH3_64bits_withSeed(written.data(), written.size(), seed ^ family_domain);
    return {.fingerprint = std::max<std::uint64_t>(hash, 1), .is_total = !is_bucket};
}

bool fingerprinter::is_ignored(const label_view& label) const noexcept {
    return std::ranges::find(ignored_, label.name) != ignored_.end();
}

bool fingerprinter::has_ignored(std::span<const label_view> labels) const noexcept {
    return !ignored_.empty() &&
           std::ranges::any_of(labels, [this](const label_view& label) { return is_ignored(label); });
}

bytes_view fingerprinter::write_canonical(std::span<const label_view> labels) {
    if (!is_canonical_set(labels) || has_ignored(labels)) labels = sort_labels(labels);
    std::size_t size_max = 0;
    for (const label_view& label : labels) size_max += label.name.size() + label.value.size() + label_overhead_max;
    if (canonical_.size() < size_max) canonical_.resize(size_max);
    char* out = canonical_.data();
    for (const label_view& label : labels) out = write_label(out, label);
    return {canonical_.data(), static_cast<std::size_t>(out - canonical_.data())};
}

std::span<const label_view> fingerprinter::sort_labels(std::span<const label_view> labels) {
    sorted_.clear();
    for (const label_view& label : labels)
        if (!label.value.empty() && !is_ignored(label)) sorted_.push_back(label);
    // Stable: of labels with the same name (invalid, but stores differ in what they do) the order stays significant.
    std::ranges::stable_sort(sorted_, {}, &label_view::name);
    return sorted_;
}

std::uint64_t tenant_seed(std::string_view tenant) noexcept {
    return tenant.empty() ? 0 : XXH3_64bits(tenant.data(), tenant.size());
}

std::uint64_t fingerprint_identity(std::vector<std::string> ignored) {
    std::ranges::sort(ignored);
    std::uint64_t identity = 1;  // of the canonical form; to be changed with it
    for (const std::string& name : ignored) identity = XXH3_64bits_withSeed(name.data(), name.size(), identity);
    return identity;
}

}  // namespace seriesgate
