/// Whose the new and the refused series are, as JSON: docs/api.md describes it.
#pragma once

#include <string>

#include "admin/api_question.hpp"
#include "admin/status_facts.hpp"
#include "talkers/refused_ring.hpp"
#include "talkers/talkers.hpp"

namespace seriesgate {

/// The answers of the paths of the same names, whole.
/// @param of see explosions_in.
std::string top_json(talkers& who, const api_question& asked);
std::string findings_json(talkers& who, const api_question& asked, const status_facts& of);
std::string refused_json(refused_ring& refused, const api_question& asked);

}  // namespace seriesgate
