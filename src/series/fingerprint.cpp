#include "series/fingerprint.hpp"

#include <algorithm>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "wire/canonical_labels.hpp"

namespace seriesgate {
namespace {

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

}  // namespace

std::uint64_t fingerprinter::operator()(const series_view& series, std::uint64_t seed) {
    bytes_view set = series.label_run;
    if (!ignored_.empty() || !series.labels.empty()) [[unlikely]]
        set = canonical_set(series);
    return XXH3_64bits_withSeed(set.data(), set.size(), seed);
}

bool fingerprinter::is_ignored(const label_view& label) const noexcept {
    return std::ranges::find(ignored_, label.name) != ignored_.end();
}

bytes_view fingerprinter::canonical_set(const series_view& series) {
    auto labels = labels_of(series, labels_);
    const bool has_ignored =
        !ignored_.empty() && std::ranges::any_of(labels, [this](const label_view& label) { return is_ignored(label); });
    if (!has_ignored && !series.label_run.empty()) return series.label_run;
    if (has_ignored || !is_canonical_set(labels)) labels = sort_labels(labels);
    canonical_.clear();
    for (const label_view& label : labels) canonical_.append(label);
    return canonical_.view();
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
