/// The thread that makes what /stats and /metrics answer.
#pragma once

#include <stop_token>

#include "http/worker.hpp"

namespace seriesgate {

/// Makes the pages that shared.pages asks for until it is told to stop, and rests after each for three times as long
/// as it took: whoever asks for pages without end gets a quarter of a core at most.
/// Waits for nothing that a request can hold.
void make_pages(const std::stop_token& stop, shared_state& shared);

}  // namespace seriesgate
