/// What stops an explosion: texts to paste.
#pragma once

#include <string>

#include "talkers/findings.hpp"

namespace seriesgate {

/// YAML, with lines that end.
struct remedy {
    /// For the senders' configuration, below `metric_relabel_configs:` or `write_relabel_configs:` of Prometheus;
    /// vmagent has the same form. Empty if the names are none that every Prometheus can say. Source:
    /// prometheus.io/docs/prometheus/latest/configuration, relabel_config: a label that becomes empty is gone.
    std::string relabel{};
    /// An entry of this gate's `limits:`, with the key; empty as above.
    std::string limit{};
};
remedy remedy_of(const finding& found);

}  // namespace seriesgate
