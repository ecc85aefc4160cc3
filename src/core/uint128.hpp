/// The widest number that processors multiply to.
#pragma once

namespace seriesgate {

__extension__ using uint128 = unsigned __int128;

}  // namespace seriesgate
