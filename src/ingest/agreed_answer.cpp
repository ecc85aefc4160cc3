#include "ingest/agreed_answer.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "ingest/written_counts.hpp"

namespace seriesgate {
namespace {

/// Senders keep what is answered so, and come again; with other errors they drop it.
bool is_retriable(const reply& answer) {
    return answer.status >= 500 || answer.status == 429;
}

/// The first one that matters most: an error that heals by itself, then one that does not, then the first store's.
reply& decisive(reply& first, std::vector<reply>& others) {
    if (is_retriable(first)) return first;
    if (const auto found = std::ranges::find_if(others, is_retriable); found != others.end()) return *found;
    if (!is_success(first.status)) return first;
    const auto failed = std::ranges::find_if_not(others, is_success, &reply::status);
    return failed == others.end() ? first : *failed;
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
    reply agreed = std::move(decisive(first, others));
    if (written)
        write_written(*written, agreed.headers);
    else
        erase_written(agreed.headers);
    return agreed;
}

}  // namespace seriesgate
