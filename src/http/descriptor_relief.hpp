/// What is done when the process has run out of descriptors.
#pragma once

#include "http/connections.hpp"
#include "http/descriptors.hpp"

namespace seriesgate {

/// Closes connections of senders, for whoever is in need. It was made sure at the start that this does not happen, so
/// the limit is a lower one by now. Threads: any, one at a time.
class descriptor_relief {
    connection_registry& senders_;
    const descriptor_use others_;

  public:
    /// @param others what else takes descriptors.
    descriptor_relief(connection_registry& senders, const descriptor_use& others)
        : senders_(senders), others_(others) {}

    void make_room();
};

}  // namespace seriesgate
