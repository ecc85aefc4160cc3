/// Asks the query API of a store.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/config.hpp"
#include "net/async.hpp"
#include "net/timed_stream.hpp"
#include "series/query_answer.hpp"
#include "upstream/shared_store.hpp"

namespace seriesgate {

struct store_query {
    std::string_view path;  ///< behind the API's root: "/api/v1/query"
    std::vector<std::pair<std::string_view, std::string>> arguments;
    std::string_view tenant;  ///< empty: none
    /// Arguments in a body, so that they may be long. Some paths of Prometheus take no POST.
    bool is_post = true;
};

enum class query_end : std::uint8_t {
    answered,
    too_much,  ///< the store refuses, or gives up, because of the amount: ask for less
    busy,      ///< it failed, or broke off: ask again later, or for less
    away,      ///< it cannot be reached: ask again later
    rejected,  ///< asking again is of no use
};

struct query_outcome {
    query_end how = query_end::answered;
    std::string why{};      ///< one line without our secrets; empty if answered
    std::string warning{};  ///< the same: why the answer may lack series; empty if it lacks none
};

/// One connection, kept between queries and replaced when it breaks. Threads: that of its io_context.
class query_client {
  public:
    using time_limit = std::chrono::steady_clock::time_point;

    /// Reads passwords and certificates. Throws std::runtime_error with one line that names key and file.
    /// @param store has one backend. @param key of the store, "warmStart". @param tenant_header for tenants, unless the
    /// URL has a place for them. All arguments must outlive it.
    query_client(net::io_context& io, const store_config& store, const std::string& key,
                 std::string_view tenant_header);

    /// Sends the query, which gets some minutes at most; `into` gets the answer's body while it arrives. The event loop
    /// gets its turn between the pieces.
    net::awaitable<query_outcome> ask(const store_query& asked, query_answer& into, time_limit limit);

  private:
    struct attempt {
        query_outcome got;
        bool unheard = false;  ///< no answer arrived: a kept connection may have been too old
    };

    net::awaitable<std::string> connect(time_limit limit);
    net::awaitable<attempt> exchange(const store_query& asked, query_answer& into, time_limit limit);
    [[nodiscard]] attempt broken(const std::string& why, bool unheard);
    [[nodiscard]] std::string shown(const std::string& text) const;

    net::io_context& io_;
    const store_backend& backend_;
    const std::string_view tenant_header_;
    const store_access access_;
    std::optional<timed_stream> stream_;
};

}  // namespace seriesgate
