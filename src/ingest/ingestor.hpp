/// One worker's ingestion: from a remote-write request to its answer.
#pragma once

#include <optional>
#include <string_view>

#include "fleet/claimer.hpp"
#include "http/route_table.hpp"
#include "ingest/body_format.hpp"
#include "ingest/forwarder.hpp"
#include "ingest/ingest_shared.hpp"
#include "ingest/outgoing.hpp"
#include "ingest/sender_answer.hpp"
#include "net/fair_queue.hpp"

namespace seriesgate {

/// Threads: the worker's.
class ingestor {
    net::io_context& io_;
    ingest_shared& shared_;
    work_pool pool_;
    forwarder forwarder_;
    fair_queue large_body_turns_;          // turns by sender address for large bodies
    std::optional<claimer> claimer_;       // only in a fleet
    bool store_url_has_tenant_ = false;    // a store's URL contains the tenant, see core/path_tenant.hpp
    bool tenant_must_be_account_ = false;  // the tenant in the URL must be an account

  public:
    ingestor(net::io_context& io, ingest_shared& shared);

    /// Keeps the resolved addresses of the upstream and of the fleet's store, and their connections. Runs until the
    /// io_context stops; spawn it once.
    net::awaitable<void> maintain();

    /// Whether requests can be forwarded: the upstream's name has an address. Threads: any.
    [[nodiscard]] bool ready() const noexcept { return forwarder_.ready(); }

    /// Checks, decodes, plans, sends and answers. Moves the body out of the request. Never throws for an error of a
    /// sender or the upstream.
    net::awaitable<reply> answer(http_request& request);

  private:
    void find_tenant_placeholders(const store_config& store);
    [[nodiscard]] std::optional<reply> tenant_fault(std::string_view tenant) const;
    net::awaitable<result<outgoing, reply>> prepare(http_request& request, const body_format& kind);
    void report(const decided_request& request, request_work& work);
    net::awaitable<result<bytes_view, reply>> read(const http_request& request, const body_format& kind,
                                                   request_work& work);
    result<bytes_view, reply> decode(const http_request& request, const body_format& kind, std::size_t size,
                                     request_work& work);
    net::awaitable<result<plan, reply>> decide(std::string_view tenant, const inflight_lease& body, request_work& work);
    net::awaitable<result<plan, wire_error>> decide_in_fleet(std::string_view tenant, request_work& work);
    net::awaitable<reply> send(const http_request& request, const outgoing& sent);
    void count(const outgoing& made);
    void complete(const http_request& request, const outgoing& sent, reply& answer);
    void log_unconfirmed(confirmation confirmed, std::uint64_t samples, const http_request& request);
};

}  // namespace seriesgate
