/// What a request says before its body.
#pragma once

#include <boost/beast/http/message.hpp>
#include <span>
#include <string>
#include <string_view>

#include "net/http_fields.hpp"

namespace seriesgate {

using request_header = http::request_header<>;

/// A request's target without its query.
std::string_view path_of(std::string_view target);
/// What stands behind the first '?' of a target.
std::string_view query_of(std::string_view target);

/// The path that a target means, written in one way. The absolute form counts if its authority is the Host; bytes that
/// need no `%` are written without; slashes that follow each other are one, and one at the end is none, as with
/// VictoriaMetrics. All else stays as it is, dots and what `%` hides among them: such a path is nobody's.
/// Source: RFC 9112, section 3.2.2; RFC 3986, section 6.2.2.2.
std::string path_meant(const request_header& header);

/// Whether the method is one of a list such as "GET, HEAD". Methods are told by case. Source: RFC 9110, section 9.1.
bool is_allowed(std::string_view method, std::string_view list);

/// Why the header is answered 400 whatever it asks for, as one line; empty for a sound one: a body whose end is in
/// doubt, no host or several, two tenants. Source: RFC 9112, sections 6.1 and 3.2.
/// @param tenant_header its name: the store may read another line of it than the gate.
std::string_view fault_of(const request_header& header, std::string_view tenant_header);

/// Why a browser's request is no one's that this gate serves, as one line; empty for a sound one, and for a request of
/// no browser: what those send with each (`Sec-Fetch-Site`, `Origin`) no sender sends. A page of another site may not
/// write series, reload the gate or make it work; but its link to a page of ours may be followed.
/// @param hosts as the gate is called besides, `host` or `host:port`; if there are any, a browser may use no other name
/// (against DNS rebinding). Source: W3C, Fetch Metadata Request Headers; RFC 6454, section 7.
std::string_view site_fault_of(const request_header& header, std::span<const std::string> hosts);

/// The sender waits for a word before it sends the body. Source: RFC 9110, section 10.1.1.
bool expects_continue(const request_header& header);

}  // namespace seriesgate
