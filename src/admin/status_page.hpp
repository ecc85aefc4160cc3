/// The answer of GET /: what people see who open the gate in a browser.
#pragma once

#include <string>
#include <string_view>

#include "admin/stats.hpp"
#include "limit/figures.hpp"

namespace seriesgate {

/// HTML without scripts, and without anything from elsewhere. Names are of senders' choosing: none of their bytes
/// become markup. Threads: any.
std::string status_html(const process_facts& process, const limiter_figures& figures);

/// The Content-Security-Policy that belongs to it: its own style, and nothing else.
extern const std::string_view status_policy;

}  // namespace seriesgate
