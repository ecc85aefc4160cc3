/// All that a frame needs, from a gate.
#pragma once

#include <cstddef>
#include <string>

#include "core/result.hpp"
#include "net/asio.hpp"
#include "top/client.hpp"
#include "top/figures.hpp"

namespace seriesgate::top {

/// @param lines_max of each list
/// @return what the gate says, or why not: one sentence, which may hold anything that the server chose.
net::awaitable<result<figures, std::string>> ask(gate_client& gate, question asked, std::size_t lines_max);

}  // namespace seriesgate::top
