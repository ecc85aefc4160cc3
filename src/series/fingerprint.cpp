#include "series/fingerprint.hpp"

#include <algorithm>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "series/selector.hpp"
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
    bytes_view set = series.label_run;
    if (!ignored_.empty() || !series.labels.empty()) [[unlikely]]
        set = canonical_set(series);
    return XXH3_64bits_withSeed(set.data(), set.size(), seed);
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

bytes_view fingerprinter::canonical_set(const series_view& series) {
    const auto labels = labels_of(series, labels_);
    const bool is_written = !series.label_run.empty() && !has_ignored(labels);
    return is_written ? series.label_run : write_canonical(labels);
}

bytes_view fingerprinter::write_canonical(std::span<const label_view> labels) {
    if (!is_canonical_set(labels) || has_ignored(labels)) labels = sort_labels(labels);
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
