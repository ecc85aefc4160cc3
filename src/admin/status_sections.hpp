/// The parts of the status page: figures in, HTML out. Each is one `<section>` whose id the script finds it by, and
/// each is bounded, whatever the figures are. Names in them are of senders' choosing: none of their bytes become
/// markup.
#pragma once

#include <string>

#include "admin/status_facts.hpp"

namespace seriesgate {

/// Whether data is withheld, who it is, and what stops it.
std::string now_section(const status_facts& of);
/// The hour and the day, and how the hours before were.
std::string windows_section(const status_facts& of);
/// Tenants and groups with the most demand. The script puts all of them there.
std::string budgets_section(const status_facts& of);
/// Who has the most series.
std::string top_section(const status_facts& of);
/// Series that were refused.
std::string refused_section(const status_facts& of);
/// The stores behind the gate, and the gates beside it.
std::string stores_section(const status_facts& of);
/// What the gate does for itself, and where to look for more.
std::string upkeep_section(const status_facts& of);

/// New and refused series of the last 24 hours, as a figure.
std::string hours_chart(const status_facts& of);
/// Refused samples of the last 60 minutes; empty if there were none.
std::string minutes_chart(const status_facts& of);

/// One sentence: whether data is withheld. Text, no HTML.
std::string verdict_text(const status_facts& of);
/// Whether it is in this hour.
bool is_withholding(const status_facts& of) noexcept;

}  // namespace seriesgate
