/// Health, readiness, figures, reload.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "admin/config_page.hpp"
#include "admin/page.hpp"
#include "admin/reload_desk.hpp"
#include "admin/reload_metrics.hpp"
#include "http/http_request.hpp"
#include "http/life_stage.hpp"
#include "http/reply.hpp"
#include "net/asio.hpp"

namespace seriesgate {

/// What takes longer than an answer may, and what the answers tell of. Shared by all threads.
struct admin_shared {
    const process_life& life;
    reload_metrics& reload;
    std::function<std::string()> waits_for{};  ///< what keeps it from being ready; empty: nothing in particular
    std::vector<std::string> labels{};         ///< whose values are counted, see talkers
    page_desk pages{};                         ///< /metrics and /stats, see make_pages()
    page_desk questions{};                     ///< / and the API: no figure waits behind these
    reload_desk reloads{};                     ///< of the configuration
    config_page in_force{};
};

/// The answers of one thread, each for a route of its own. Threads: the one that runs `io`.
class admin_answers {
    admin_shared& shared_;
    net::io_context& io_;

  public:
    admin_answers(admin_shared& shared, net::io_context& io) : shared_(shared), io_(io) {}

    /// GET and HEAD.
    net::awaitable<reply> healthy(const http_request& request);
    net::awaitable<reply> ready(const http_request& request);
    net::awaitable<reply> metrics(const http_request& request);
    net::awaitable<reply> stats(const http_request& request);
    net::awaitable<reply> status(const http_request& request);
    net::awaitable<reply> configuration(const http_request& request);
    net::awaitable<reply> top(const http_request& request);
    net::awaitable<reply> findings(const http_request& request);
    net::awaitable<reply> refused(const http_request& request);
    net::awaitable<reply> explain(const http_request& request);
    net::awaitable<reply> suggestions(const http_request& request);
    /// POST. Waits for what comes of it.
    net::awaitable<reply> reload(const http_request& request);

  private:
    net::awaitable<reply> api(api_path path, const http_request& request);
    net::awaitable<reply> page(page_key key, std::string_view type, bool is_head);
};

}  // namespace seriesgate
