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

// --- The sections of the page, bounded for any figures. Each is one `<section>` with an id for the script.

/// Whether data is withheld, whose it is, and the remedy.
std::string now_section(const status_facts& of);
std::string windows_section(const status_facts& of);
/// Tenants and groups with most demand; the script loads all.
std::string budgets_section(const status_facts& of);
std::string top_section(const status_facts& of);
std::string refused_section(const status_facts& of);
/// The stores, and the other gates of the fleet.
std::string stores_section(const status_facts& of);
/// State of configuration and saved state, and links.
std::string upkeep_section(const status_facts& of);

std::string hours_chart(const status_facts& of);
/// Refused samples of the last 60 minutes; empty if there were none.
std::string minutes_chart(const status_facts& of);

/// One sentence: whether data is withheld. Text, not HTML.
std::string verdict_text(const status_facts& of);
bool is_withholding(const status_facts& of) noexcept;

}  // namespace seriesgate
