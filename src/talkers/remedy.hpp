/// What stops an explosion and takes nothing else: texts to paste.
#pragma once

#include <cstdint>
#include <string>

#include "talkers/exploding.hpp"
#include "talkers/finding.hpp"

namespace seriesgate {

/// YAML, with lines that end: items of lists, to be pasted below the key of the list.
struct remedy {
    /// For the senders' configuration, below `metric_relabel_configs:` or `write_relabel_configs:` of Prometheus;
    /// vmagent has the same form. Empty where no rule takes all that explodes and nothing that was known before.
    /// Source: prometheus.io/docs/prometheus/latest/configuration, relabel_config.
    std::string relabel{};
    /// For this gate's `limits:`. It admits more of such series than there were before. Empty where a limit of its own
    /// is no help.
    std::string limit{};
    /// What people have to know: what it was tried on; or why there is no rule, and what they have to decide.
    std::string note{};
    std::uint64_t would_take = 0;  ///< of the known series that are remembered, the best rule there is
    std::uint64_t remembered = 0;  ///< known series that it was tried on
    std::uint64_t known = 0;       ///< for which they stand, about
};
remedy remedy_of(const finding& found, const sampled& all);

}  // namespace seriesgate
