/// `seriesgate --health-check URL`: whether a server answers, for a container that has no curl.
#pragma once

#include <string>
#include <string_view>

#include "top/options.hpp"

namespace seriesgate {

/// What is asked when no URL is given.
inline constexpr std::string_view health_url = "http://127.0.0.1:9201/-/healthy";

/// Where the question goes.
struct health_question {
    top::gate_address at{};
    std::string target{};  ///< path and query of the request
};

/// @param url http://, https:// or unix:/path; `/-/healthy` where it has no path.
/// @return what is wrong with it, in words that name no secret it may hold; or nothing, and then `to` is set.
std::string parse_health_url(const std::string& url, health_question& to);

/// Asks once, within five seconds. Whom a certificate names does not matter: the question tells nothing, and its answer
/// is one number.
/// @param url as parse_health_url() takes it; empty: health_url.
/// @return nothing if the answer is 2xx; otherwise what came of it, one line.
std::string fault_of_health(const std::string& url);

}  // namespace seriesgate
