/// A label as it stands in a request.
#pragma once

#include "core/bytes.hpp"

namespace seriesgate {

/// Raw bytes; receivers do not check UTF-8, so neither do we.
struct label_view {
    bytes_view name;
    bytes_view value;
};

}  // namespace seriesgate
