/// What happened behind the last lines of the log.
#pragma once

#include <string_view>

#include "ingest/ingest_shared.hpp"

namespace seriesgate {

/// Says how many requests there were that no line has counted so far, where that is due: of a burst the first alone
/// would be told. Call it every second. Threads: any.
void tell_rest(ingest_shared& of);

/// The line about what the upstream does not confirm.
void tell_unconfirmed(const lost_log::news& news, const upstream_config& upstream);

/// The line about what the upstream has written less of.
/// @param sender its address, of the last request. @param tenant as that sender named it; may be empty.
void tell_partly_written(const lost_log::news& news, std::string_view sender, std::string_view tenant,
                         const upstream_config& upstream);

}  // namespace seriesgate
