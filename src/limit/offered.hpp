/// What a request offers to the limiter.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "series/fingerprint.hpp"
#include "series/label.hpp"

namespace seriesgate {

/// One series entry of a request.
struct offered_series {
    std::uint64_t fingerprint = 0;
    std::uint32_t samples = 0;  ///< samples and histograms
    bool admits = false;        ///< holds more than stale markers and exemplars
};

/// Shows the labels of a request's entries again; asked only about entries that may be new.
class label_source {
  public:
    /// @return valid until the next call.
    virtual std::span<const label_view> labels(std::size_t entry) = 0;
    /// The histogram of a series with these labels, as labels() has just shown them; asked only if histograms are to be
    /// kept whole.
    virtual histogram_family family(std::span<const label_view> labels) = 0;

  protected:
    ~label_source() = default;
};

/// Where a request comes from and what its series look like.
struct request_origin {
    std::string_view tenant{};
    label_source* labels = nullptr;   ///< none: no series has labels
    bool are_ignored_values = false;  ///< what is offered is no series, see limit_rules::ignored_values_max
};

}  // namespace seriesgate
