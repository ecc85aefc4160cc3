/// Health, readiness, figures, reload.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "admin/page_cache.hpp"
#include "base/metrics.hpp"
#include "core/synchronization.hpp"
#include "http/lifecycle.hpp"
#include "http/route_table.hpp"
#include "net/asio.hpp"

namespace seriesgate {

// --- What GET /config answers.

/// The configuration in force as a text. It is made when it changes, so that asking for it makes nothing.
/// Threads: any.
class config_page {
    guarded<page_text, std::mutex> text_{std::make_shared<const std::string>()};

  public:
    [[nodiscard]] page_text text() { return *text_.lock(); }

    /// Those who are reading the one before read it to its end.
    void replace(page_text next) noexcept {
        std::swap(*text_.lock(), next);  // the old one is let go without the lock
    }
};

// --- Where a reload of the configuration is asked for.

/// What came of reading the configuration again.
struct reload_outcome {
    bool ok = false;
    std::string text;  ///< lines: what is wrong, or what was taken over
};

/// There is but one configuration to ask for.
using reload_queue = single_flight_queue<std::monostate, reload_outcome>;

// --- What is counted about reloads of the configuration.

class exposition;

/// Threads: any.
struct reload_metrics {
    counter requests;       ///< SIGHUP and POST /-/reload
    counter reads;          ///< times that the configuration was read for them
    gauge successful;       ///< 1 unless the last reload failed
    gauge success_seconds;  ///< since 1970: when the configuration was last taken over
    gauge web_successful;   ///< 1 unless the web configuration file, or one of a token, is not in force as it is
};

/// Its families.
void write(exposition& out, const reload_metrics& metrics);

/// What takes longer than an answer may, and what the answers tell of. Shared by all threads.
struct admin_shared {
    const lifecycle& life;
    reload_metrics& reload;
    std::function<std::string()> waits_for{};  ///< what keeps it from being ready; empty: nothing in particular
    std::vector<std::string> labels{};         ///< whose values are counted, see talkers
    page_queue pages{};                        ///< /metrics and /stats, see make_pages()
    page_queue questions{};                    ///< / and the API: no figure waits behind these
    reload_queue reloads{};                    ///< of the configuration
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
