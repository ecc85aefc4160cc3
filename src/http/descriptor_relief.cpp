#include "http/descriptor_relief.hpp"

#include "log/log.hpp"

namespace seriesgate {

void descriptor_relief::make_room() {
    const std::size_t before = senders_.total();
    senders_.lower(connections_that_fit(descriptor_limit(), others_));
    if (senders_.total() != before)
        log::warn("server.maxConnections is lowered, there are fewer descriptors",
                  {{"max_connections", senders_.total()}});
}

}  // namespace seriesgate
