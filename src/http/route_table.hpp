/// Which paths there are, and who answers for them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/http_metrics.hpp"
#include "http/inflight.hpp"
#include "net/asio.hpp"
#include "net/http_fields.hpp"

namespace seriesgate {

// --- A request that has been read to its end, as its handler gets it.

/// What it refers to lives until the handler has ended.
struct http_request {
    const http::fields& headers;  ///< as they were before the body: no trailer is among them
    std::string_view query;       ///< without '?'
    bool is_head = false;
    std::string body;                    ///< the handler may take it
    inflight_lease& memory;              ///< what the body takes of server.maxInflightBytes
    std::string_view sender{};           ///< its address, or "unix"; empty if it has gone
    std::string_view user{};             ///< who it proved to be; empty: nobody in particular
    std::string_view tenant{};           ///< whose request it is: that of the user, or else as the header names it
    bool tenant_is_bound = false;        ///< by the user, whatever the header says
    bool authorization_is_ours = false;  ///< the Authorization header was meant for the gate
};

/// The tenant that the headers name; the empty one without the header.
inline std::string_view tenant_of(const http::fields& headers, std::string_view tenant_header) {
    const auto found = headers.find(tenant_header);
    return found == headers.end() ? std::string_view{} : std::string_view{found->value()};
}

// --- What a handler wants the session to answer.

/// Whether a status is one of those that say that all went well.
constexpr bool is_success(unsigned status) noexcept {
    return status >= 200 && status <= 299;
}

struct reply {
    unsigned status = 200;
    http::fields headers{};
    std::string body{};
    /// Say goodbye after this answer.
    bool close = false;
    /// Why the gate itself answers with an error, if it does. The session counts it.
    std::optional<reject_reason> rejected{};
    /// In place of `body`: one text that many answers share and none copies.
    std::shared_ptr<const std::string> shared_body{};
    /// The answer to HEAD where nobody has made what GET would get: without Content-Length, which is optional then.
    /// Source: RFC 9110, section 9.3.2.
    bool length_unknown = false;

    [[nodiscard]] std::string_view text() const noexcept { return shared_body ? *shared_body : body; }
};

/// A short text, dressed as Go's http.Error does, so that it looks like any other receiver's answer.
/// @param line without a line end; senders log only the first line, at most 1 KiB.
reply text_reply(unsigned status, std::string_view line);

/// What a sender wrote, as an answer may show it: of one line, in ASCII, and not long.
std::string shown_in_answer(std::string_view text);

/// An answer to a request that is rejected.
reply rejection(reject_reason reason, unsigned status, std::string_view line);

/// The same answer, with the word that the sender may come again in a second.
reply come_again(reply made);

/// The answer when maxInflightBytes is reached: the sender keeps the data and comes again.
reply overloaded(const inflight_use& now);

/// The answer to what would have to wait for too long: the sender comes again.
/// @param waited what came last.
reply too_busy(std::chrono::nanoseconds waited, std::chrono::milliseconds wait_max);

/// The same when the process gets no more memory.
reply out_of_memory();

/// Answers one request. It has been checked, and is there until the answer is. Threads: the worker's.
using request_handler = std::function<net::awaitable<reply>(http_request&)>;

enum class route_kind : std::uint8_t {
    ingestion,  ///< senders': counted by status and duration, and among the memory of all requests until it is answered
    admin,      ///< people's and probes': takes no part in what it tells of
};

struct route {
    std::string_view path;     ///< whole, without query; it outlives the route. May have a mark for the tenant
    std::string_view methods;  ///< as the Allow header wants them: "GET, HEAD"; a literal
    route_kind kind = route_kind::admin;
    request_handler answer;
};

/// A few routes, each with a path of its own. Threads: one; it does not change once it is made.
class route_table {
    std::vector<route> routes_;

  public:
    route_table(std::initializer_list<route> routes) : route_table(std::vector<route>{routes}) {}
    explicit route_table(std::vector<route> routes);

    /// Those of one kind.
    [[nodiscard]] route_table of(route_kind kind) const;

    /// @return null if there is no such path. One with a mark for the tenant is not found by that.
    [[nodiscard]] const route* find(std::string_view path) const noexcept;
    /// The route with such a mark that a path fits. @param tenant replaced by the one that the path names.
    [[nodiscard]] const route* find_by_tenant(std::string_view path, std::string& tenant) const;
    [[nodiscard]] const std::vector<route>& all() const noexcept { return routes_; }
};

}  // namespace seriesgate
