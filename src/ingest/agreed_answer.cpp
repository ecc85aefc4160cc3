#include "ingest/agreed_answer.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "ingest/written_counts.hpp"

namespace seriesgate {
namespace {

bool is_success(const reply& answer) {
    return answer.status >= 200 && answer.status <= 299;
}

using counts = std::optional<written_counts>;

counts least(const counts& one, const counts& other) {
    if (!one || !other) return std::nullopt;
    return written_counts{.samples = std::min(one->samples, other->samples),
                          .histograms = std::min(one->histograms, other->histograms),
                          .exemplars = std::min(one->exemplars, other->exemplars)};
}

}  // namespace

reply agreed_answer(reply first, std::vector<reply> others) {
    counts written = read_written(first.headers);
    for (const reply& each : others) written = least(written, read_written(each.headers));
    reply* told = &first;
    if (is_success(first)) {
        const auto failed = std::ranges::find_if_not(others, is_success);
        if (failed != others.end()) told = &*failed;
    }
    reply agreed = std::move(*told);
    if (written)
        write_written(*written, agreed.headers);
    else
        erase_written(agreed.headers);
    return agreed;
}

}  // namespace seriesgate
