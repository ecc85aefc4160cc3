/// Rejects requests that another site's page makes a browser send (cross-site request forgery, DNS rebinding).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "http/request_head.hpp"

namespace seriesgate {

/// The reason to reject a browser's request, as one line; empty if allowed. Only browsers send `Sec-Fetch-Site` and
/// `Origin`. A page of another site may link to the gate's pages, but not write series, reload or cause work.
/// @param hosts further names of the gate, `host` or `host:port`. If any, browsers may use no other (DNS rebinding).
/// Source: W3C, Fetch Metadata Request Headers; RFC 6454, section 7.
std::string_view site_fault_of(const request_header& header, std::span<const std::string> hosts);

}  // namespace seriesgate
