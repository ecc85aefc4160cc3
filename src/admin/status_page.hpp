/// The answer of GET /: what people see who open the gate in a browser.
#pragma once

#include <string>
#include <string_view>

#include "admin/status_facts.hpp"

namespace seriesgate {

// --- The style and the script of the status page, from src/admin/page/: see cmake/page_texts.cmake.

extern const std::string_view page_style;
extern const std::string_view page_script;
/// For a Content-Security-Policy: `sha256-` and the hash in base64.
extern const std::string_view page_style_hash;
extern const std::string_view page_script_hash;

/// HTML that says everything by itself; the script in it refreshes it, sorts and copies. Nothing is from elsewhere.
/// Names are of senders' choosing: none of their bytes become markup. Below 100 KiB, with any
/// number of budgets; a few times that where all names are as long as can be and made of what HTML has to write in a
/// longer way. Threads: any.
std::string status_html(const status_facts& facts);

/// The Content-Security-Policy that belongs to it: its own style and its own script, and nothing else; the script makes
/// no markup out of texts, and asks nobody but this gate.
const std::string& status_policy();

}  // namespace seriesgate
