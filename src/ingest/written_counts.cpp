#include "ingest/written_counts.hpp"

#include <array>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

namespace seriesgate {
namespace {

constexpr std::array count_headers{
    std::pair{"X-Prometheus-Remote-Write-Samples-Written", &written_counts::samples},
    std::pair{"X-Prometheus-Remote-Write-Histograms-Written", &written_counts::histograms},
    std::pair{"X-Prometheus-Remote-Write-Exemplars-Written", &written_counts::exemplars}};

}  // namespace

written_counts written_of(const entry_counts& counts) noexcept {
    return {
        .samples = counts.samples - counts.histograms, .histograms = counts.histograms, .exemplars = counts.exemplars};
}

std::optional<written_counts> read_written(const http::fields& headers) {
    written_counts counts;
    bool any = false;
    for (const auto& [name, count] : count_headers) {
        const auto found = headers.find(name);
        if (found == headers.end()) continue;
        any = true;
        const std::string_view text = found->value();
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), counts.*count);
        if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    }
    if (!any) return std::nullopt;
    return counts;
}

void write_written(const written_counts& counts, http::fields& headers) {
    for (const auto& [name, count] : count_headers) headers.set(name, std::to_string(counts.*count));
}

void erase_written(http::fields& headers) {
    for (const auto& each : count_headers) headers.erase(each.first);
}

}  // namespace seriesgate
