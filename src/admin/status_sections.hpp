/// The sections of the status page: figures in, HTML out. Each is one `<section>` with an id for the script, and
/// bounded for any figures. Names chosen by senders never become markup.
#pragma once

#include <string>

#include "admin/status_facts.hpp"

namespace seriesgate {

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
