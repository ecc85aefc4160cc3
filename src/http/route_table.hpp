/// Requests, replies, and the table of paths with their handlers.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.hpp"
#include "http/http_metrics.hpp"
#include "http/inflight.hpp"
#include "net/async.hpp"
#include "net/http_fields.hpp"

namespace seriesgate {

/// A complete request. What it refers to outlives the handler.
struct http_request {
    const http::fields& headers;  ///< without trailers
    std::string_view query;       ///< without '?'
    bool is_head = false;
    std::string body;                    ///< the handler may move it out
    inflight_lease& memory;              ///< holds the body's bytes of server.maxInflightBytes
    std::string_view sender{};           ///< address, or "unix"; empty if unknown
    std::string_view user{};             ///< proven; empty: anonymous
    std::string_view tenant{};           ///< the user's bound tenant, or the one that the header names
    bool tenant_is_bound = false;        ///< by the user, regardless of the header
    bool authorization_is_ours = false;  ///< never forward the header to the store
};

struct reply {
    unsigned status = 200;
    http::fields headers{};
    std::string body{};
    bool close = false;
    /// Why the gate itself answers with an error. The session counts it.
    std::optional<reject_reason> rejected{};
    /// Replaces `body`: one text shared by many answers.
    std::shared_ptr<const std::string> shared_body{};
    /// For HEAD if the length of GET's answer is unknown: sends no Content-Length. Source: RFC 9110, section 9.3.2.
    bool length_unknown = false;

    [[nodiscard]] std::string_view text() const noexcept { return shared_body ? *shared_body : body; }
};

/// A text answer in the form of Go's http.Error, as other receivers send.
/// @param line without a line end. Senders log only the first line, at most 1 KiB.
reply text_reply(unsigned status, std::string_view line);

/// A sender's text for an answer: one line, ASCII, cut to 100 bytes.
std::string shown_in_answer(std::string_view text);

reply rejection(reject_reason reason, unsigned status, std::string_view line);

/// Adds Retry-After: one second.
reply with_retry_after(reply made);

/// 503 at maxInflightBytes. The sender keeps the data and tries again.
reply overloaded(const inflight_use& now);

reply out_of_memory();

/// Answers one request. The session has checked it and keeps it until the answer. Threads: the worker's.
using request_handler = std::function<net::awaitable<reply>(http_request&)>;

enum class route_kind : std::uint8_t {
    ingestion,  ///< from senders: counted by status and duration; holds inflight memory until answered
    admin,      ///< for admins and probes: not counted as requests, holds no inflight memory
};

struct route {
    std::string_view path;     ///< without query; outlives the route. May contain a tenant mark
    std::string_view methods;  ///< a literal in the form of the Allow header: "GET, HEAD"
    route_kind kind = route_kind::admin;
    request_handler answer;
};

/// A few routes with distinct paths. Immutable. Threads: one.
class route_table {
    std::vector<route> routes_;

  public:
    route_table(std::initializer_list<route> routes) : route_table(std::vector<route>{routes}) {}
    explicit route_table(std::vector<route> routes);

    [[nodiscard]] route_table of(route_kind kind) const;

    /// @return null if there is none. Never matches a route with a tenant mark.
    [[nodiscard]] const route* find(std::string_view path) const noexcept;
    /// The route whose tenant mark matches the path. @param tenant gets the path's tenant.
    [[nodiscard]] const route* find_by_tenant(std::string_view path, std::string& tenant) const;
    [[nodiscard]] const std::vector<route>& all() const noexcept { return routes_; }
};

// --- Log lines about rejected requests, and about connections closed at a bound.

/// At most one line in ten seconds per reason.
using rejection_logs = throttled_logs<reject_reason>;

/// Whether ingestion logs this reason itself: the gate accepted the request, except for part of its data.
bool is_logged_by_ingestion(reject_reason reason) noexcept;

/// Logs the number of requests not logged so far, if due. Call it every second.
void log_rest(rejection_logs& of);

/// The log fields: the number of requests, and one request as an example. They point into the arguments.
/// @param answer must have a reason.
/// @param peer,user,tenant may be empty; `user` is proven or only claimed.
std::array<log::field, 7> describe_rejection(const reply& answer, std::uint64_t requests, std::string_view peer,
                                             std::string_view user, std::string_view tenant);

/// Cuts a tenant's name to its length in a log line.
std::string_view shown_tenant(std::string_view tenant) noexcept;

/// Logs connections closed or turned away at a bound. Threads: the acceptor thread.
class closings_log {
    std::uint64_t logged_ = 0;
    throttled_log lines_{};

  public:
    /// Logs new ones, throttled. Call it after each accept, and every second.
    void log_new(const http_metrics& metrics);
};

}  // namespace seriesgate
