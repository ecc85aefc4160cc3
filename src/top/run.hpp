/// `seriesgate top` from its start to its end.
#pragma once

#include "top/options.hpp"

namespace seriesgate::top {

/// Live in the terminal, or once as plain text if that is asked for or there is none.
/// @return the exit status: 0, or 1 if the gate could not be asked for a report, which stderr then says.
/// Throws std::exception with one line for what is wrong with files, or the terminal.
int run(const options& asked);

}  // namespace seriesgate::top
