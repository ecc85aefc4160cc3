/// GET /: the status page for browsers.
#pragma once

#include <string>
#include <string_view>

#include "admin/status_facts.hpp"

namespace seriesgate {

// --- Style and script of the page, from src/admin/page/ by cmake/page_texts.cmake.

extern const std::string_view page_style;
extern const std::string_view page_script;
/// For a Content-Security-Policy: `sha256-` and the hash in base64.
extern const std::string_view page_style_hash;
extern const std::string_view page_script_hash;

/// Complete HTML without outside resources; its script refreshes, sorts and copies. Names chosen by senders never
/// become markup. Below 100 KiB for any number of budgets; a few times that if all names are long and need escapes.
/// Threads: any.
std::string status_html(const status_facts& facts);

/// The page's Content-Security-Policy: allows its own style and script only, no markup from texts, and requests to this
/// gate only.
const std::string& status_policy();

}  // namespace seriesgate
