#include "series/fingerprint.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

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

void append_label(std::string& out, const label_view& label) {
    const auto size = [](bytes_view text) {
        return 1u + static_cast<unsigned>(varint_size(text.size())) + text.size();
    };
    out.push_back('\x0a');
    append_varint(out, size(label.name) + size(label.value));
    out.push_back('\x0a');
    append_varint(out, label.name.size());
    out.append(label.name);
    out.push_back('\x12');
    append_varint(out, label.value.size());
    out.append(label.value);
}

}  // namespace

std::uint64_t fingerprinter::operator()(const series_view& series, std::uint64_t seed) {
    const bytes_view run = series.label_run;
    const bool canonical =
        run.size() != 0 ? names_ascend(series.labels, run.data() + run.size()) : series.labels.empty();
    if (canonical && !has_ignored(series)) [[likely]]
        return XXH3_64bits_withSeed(run.data(), run.size(), seed);
    write_canonical(series);
    return XXH3_64bits_withSeed(canonical_.data(), canonical_.size(), seed);
}

bool fingerprinter::is_ignored(const label_view& label) const noexcept {
    return std::ranges::find(ignored_, label.name) != ignored_.end();
}

bool fingerprinter::has_ignored(const series_view& series) const noexcept {
    return !ignored_.empty() &&
           std::ranges::any_of(series.labels, [this](const label_view& label) { return is_ignored(label); });
}

void fingerprinter::write_canonical(const series_view& series) {
    sorted_.clear();
    for (const label_view& label : series.labels)
        if (!label.value.empty() && !is_ignored(label)) sorted_.push_back(label);
    // Stable: of labels with the same name (invalid, but stores differ in what they do) the order stays significant.
    std::ranges::stable_sort(sorted_, {}, &label_view::name);
    canonical_.clear();
    for (const label_view& label : sorted_) append_label(canonical_, label);
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
