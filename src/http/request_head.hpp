/// Checks of a request's header: path, method, host, tenant.
#pragma once

#include <boost/beast/http/message.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/sender_address.hpp"
#include "http/route_table.hpp"
#include "http/worker.hpp"
#include "net/http_fields.hpp"

namespace seriesgate {

using request_header = http::request_header<>;

std::string_view path_of(std::string_view target);
/// Without '?'.
std::string_view query_of(std::string_view target);

/// The normalized path. Removes an authority equal to the Host, decodes unreserved characters, merges adjacent slashes,
/// and removes a trailing one, as VictoriaMetrics does. Dots and other `%` sequences stay, so such a path matches no
/// route. Source: RFC 9112, section 3.2.2; RFC 3986, section 6.2.2.2.
std::string path_meant(const request_header& header);

/// Whether two hosts are the same. A missing port means the scheme's usual one: `gate:80` is the host of `http://gate`.
/// @param usual_port with its colon.
bool is_same_host(std::string_view authority, std::string_view other, std::string_view usual_port);

/// Whether a list such as "GET, HEAD" contains the method. Case-sensitive. Source: RFC 9110, section 9.1.
bool is_allowed(std::string_view method, std::string_view list);

/// The reason for a 400, as one line; empty if the header is sound. Faults: ambiguous body length, no or several hosts,
/// two tenants. Source: RFC 9112, sections 6.1 and 3.2.
/// @param tenant_header its name. Of two different ones the store might read the other.
std::string_view fault_of(const request_header& header, std::string_view tenant_header);

/// The sender by X-Forwarded-For or Forwarded, see forwarded_chain. Empty if there is none, if it is unreadable, or if
/// both are there and disagree: a proxy may write one and pass the other on. Only for requests of trusted proxies.
std::string forwarded_sender(const request_header& header, std::span<const ip_network> trusted);

/// Whether the sender waits for 100 Continue before the body. Source: RFC 9110, section 10.1.1.
bool expects_continue(const request_header& header);

// --- Authentication, after the header and before the body.

/// Authenticates and authorizes one request. Another thread checks an unknown password, within
/// access_control::wait_max. Arguments must outlive the call.
/// @param to null if the path does not exist.
/// @param sender whose turn it is to have a password checked.
/// @param who gets the decision about the sender, also on denial.
/// @return the answer on denial; nothing if granted. Threads: the worker's.
net::awaitable<std::optional<reply>> authenticate(const request_header& header, const route* to,
                                                  const served_connection& peer, std::string_view sender,
                                                  access_decision& who);

/// Adds the configured answer headers, without replacing existing ones.
void add_answer_headers(const access_control& access, http::fields& headers);

}  // namespace seriesgate
