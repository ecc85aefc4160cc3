#include "http/closings_log.hpp"

#include <utility>

#include "log/log.hpp"

namespace seriesgate {

void closings_log::tell(const http_metrics& metrics) {
    const auto closings = metrics.connections_given_up.total() + metrics.connections_turned_away.total();
    const auto more = closings - std::exchange(told_, closings);
    const auto times = more == 0 ? lines_.rest() : lines_.count(more);
    if (times) log::warn("too many connections: some are closed or turned away", {{"connections", *times}});
}

}  // namespace seriesgate
