/// What is said in a store's place, and what goes on of what it says itself.
#pragma once

#include <string>
#include <string_view>

#include "config/config.hpp"
#include "http/reply.hpp"
#include "upstream/request.hpp"
#include "upstream/store_access.hpp"
#include "upstream/upstream_health.hpp"

namespace seriesgate {

/// Why there is no answer, in one line: `cannot reach the upstream store:8428: connecting to ...: Connection refused`.
std::string unanswered_line(const upstream_error& error, const upstream_config& upstream);

/// The answer in place of the store's: the sender keeps the data and comes again.
/// @param line as above.
reply unanswered_reply(const upstream_error& error, std::string_view line);

/// A store's answer as the sender gets it, without headers that are the gate's own (`X-Seriesgate-`). An error may
/// repeat what the store was asked with: of what is ours in that, credentials and the arguments of the URL, nothing
/// goes on, and no Location of a URL that has arguments. A compressed error from a store with secrets of ours, which
/// did not ask for one, goes on without its body.
/// @param tenant_header its name.
reply passed_on(upstream_answer answer, std::string_view tenant_header, const store_access& from);

}  // namespace seriesgate
