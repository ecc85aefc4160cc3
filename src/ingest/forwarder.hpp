/// Between a request and the upstream: what of it goes there, and what comes back.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "http/route_table.hpp"
#include "ingest/outgoing.hpp"
#include "ingest/replication.hpp"
#include "ingest/stores.hpp"
#include "net/asio.hpp"
#include "upstream/store_client.hpp"

namespace seriesgate {

// --- What a sender is told whose request went to several stores.

/// The first store's answer; but if that is a success and one of the others' is not, that one's. An error that heals by
/// itself (5xx, 429) comes before one that does not, whoever it is of: the sender comes again for as long as one of
/// them may yet take what it has sent, and drops it only when none will. Of remote write 2 they say together that as
/// much is written as by the one that has written least; nothing, if one of them does not say.
/// @param others of the stores that have to have it, too.
reply agreed_answer(reply first, std::vector<reply> others);

/// Threads: the worker's.
class forwarder {
    ingest_shared& shared_;
    const config& settings_;
    std::optional<store_client> store_;    // not with `discard:`
    std::optional<replication> replicas_;  // as above

  public:
    forwarder(net::io_context& io, ingest_shared& shared);

    /// Call it every second.
    void maintain();
    /// See ingestor.
    [[nodiscard]] bool ready() const noexcept;

    /// Takes what the replicas' copies of a request's headers need of server.maxInflightBytes, until it ends.
    /// @return false if there is no room.
    [[nodiscard]] bool take_room(const http_request& of) const;

    /// @return the upstream's answer, or what is said in its place, or what one of its replicas has to say; with
    /// `discard:` a success.
    net::awaitable<reply> send(const http_request& from, const outgoing& sent);

    /// Asks on behalf of an older vmagent whether zstd is understood. Bodies go to the store as they are compressed, so
    /// it is the store's to say.
    net::awaitable<reply> ask_for_zstd(const http_request& from);

  private:
    net::awaitable<reply> post(const http_request& from, const upstream_request& message);
    reply failed(const http_request& from, const upstream_error& error);
    reply answered(upstream_answer answer);
    void count_answer(const http_request& from, const reply& answer);
    std::string query_of(const http_request& from);
};

/// Whether this is that question: an empty body with get_vm_proto_version=1.
bool asks_for_zstd(const http_request& request);

}  // namespace seriesgate
