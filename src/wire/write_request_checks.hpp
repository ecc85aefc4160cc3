/// Records of a v1 WriteRequest of which nothing is wanted but that they are well formed. Internal to wire.
#pragma once

#include "core/bytes.hpp"
#include "wire/sample_records.hpp"

namespace seriesgate {

fault check_exemplar(bytes_view exemplar) noexcept;
fault check_metadata(bytes_view metadata) noexcept;

}  // namespace seriesgate
