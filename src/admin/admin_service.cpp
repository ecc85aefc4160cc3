#include "admin/admin_service.hpp"

#include <chrono>
#include <cstddef>
#include <string_view>

#include "admin/formatting.hpp"
#include "admin/status_page.hpp"

namespace seriesgate {

void write(exposition& out, const reload_metrics& metrics) {
    write_counter(out, "seriesgate_config_reload_requests_total",
                  "Times that a reload was asked for, by SIGHUP or POST /-/reload.", metrics.requests);
    write_counter(out, "seriesgate_config_reloads_total",
                  "Times that the configuration was read again: once a second at most, for all who have asked.",
                  metrics.reads);
    write_gauge(out, "seriesgate_config_last_reload_successful",
                "Whether the last attempt to read the configuration took it over.", metrics.successful);
    write_gauge(out, "seriesgate_config_last_reload_success_timestamp_seconds",
                "When the configuration was last taken over, since 1970.", metrics.success_seconds);
    write_gauge(out, "seriesgate_web_config_last_reload_successful",
                "Whether the web configuration file is in force as it is, with all of its tokens and TLS files.",
                metrics.web_successful);
}

namespace {

using namespace std::chrono_literals;

/// Far longer than a page takes. A reload may have to wait for the previous one.
constexpr auto page_limit = 10s;
constexpr auto reload_limit = 30s;
/// Parts of /stats and API answers can be any number, so they leave room for the whole pages.
constexpr std::size_t parts_max = 8;
constexpr std::string_view json_type = "application/json";

reply api_error(reply made, std::string_view type) {
    const std::string_view line = std::string_view{made.body}.substr(0, made.body.find('\n'));
    made.body = error_json(type, line);
    made.headers.set(http::field::content_type, json_type);
    return made;
}

}  // namespace

net::awaitable<reply> admin_answers::healthy(const http_request&) {
    co_return text_reply(200, "OK");
}

net::awaitable<reply> admin_answers::ready(const http_request&) {
    const lifecycle_state stage = shared_.life.stage();
    if (stage == lifecycle_state::starting) {
        const std::string why = shared_.waits_for();
        co_return text_reply(503, why.empty() ? "starting" : "starting: " + why);
    }
    if (stage == lifecycle_state::draining) co_return text_reply(503, "draining: shutting down");
    // In a takeover a new client reaches the other process, so no client has to stay away.
    const std::string warming = shared_.warms_up();
    co_return text_reply(200, warming.empty() ? "OK" : "OK; " + warming);
}

/// A HEAD request makes no page: a page of many budgets takes a while.
net::awaitable<reply> admin_answers::page(api_question key, std::string_view type, bool is_head) {
    reply made{.status = 200, .length_unknown = is_head};
    made.headers.set(http::field::content_type, type);
    made.headers.set("X-Content-Type-Options", "nosniff");  // senders choose names on it
    if (is_head) co_return made;
    const std::size_t ahead_max = key.is_part() ? parts_max - 1 : page_queue::jobs_max - 1;
    const bool is_figures = key.path == api_path::metrics || key.path == api_path::stats;
    page_queue& queue = is_figures ? shared_.pages : shared_.questions;
    const auto text = co_await queue.ask(key, io_, page_limit, ahead_max);
    if (!text || *text == nullptr)
        co_return with_retry_after(
            rejection(reject_reason::pages_held, 503,
                      "the answer was not made in 10 s, or too many others are being made or read: try again"));
    made.shared_body = *text;
    co_return made;
}

net::awaitable<reply> admin_answers::metrics(const http_request& request) {
    const api_question key{.path = api_path::metrics};
    co_return co_await page(key, exposition_content_type, request.is_head);
}

net::awaitable<reply> admin_answers::stats(const http_request& request) {
    const auto asked = read_api_question(api_path::stats, request.query, shared_.labels);
    if (!asked) co_return rejection(reject_reason::bad_argument, 400, asked.error());
    co_return co_await page(*asked, json_type, request.is_head);
}

/// Errors have the JSON envelope, too.
net::awaitable<reply> admin_answers::api(api_path path, const http_request& request) {
    const auto asked = read_api_question(path, request.query, shared_.labels);
    if (!asked) co_return api_error(rejection(reject_reason::bad_argument, 400, asked.error()), "bad_data");
    reply made = co_await page(*asked, json_type, request.is_head);
    made.headers.set(http::field::cache_control, "no-store");
    if (made.status == 503) co_return api_error(std::move(made), "unavailable");
    co_return made;
}

/// Senders choose names on the page, so the browser may not run, load or frame any of it.
net::awaitable<reply> admin_answers::status(const http_request& request) {
    const api_question key{.path = api_path::status};
    reply made = co_await page(key, "text/html; charset=utf-8", request.is_head);
    made.headers.set("Content-Security-Policy", status_policy());
    made.headers.set("Referrer-Policy", "no-referrer");
    made.headers.set(http::field::cache_control, "no-store");
    co_return made;
}

/// As plain text, since browsers save YAML as a file.
net::awaitable<reply> admin_answers::configuration(const http_request&) {
    reply made = text_reply(200, "");
    made.shared_body = *shared_.in_force.lock();
    co_return made;
}

net::awaitable<reply> admin_answers::reload(const http_request&) {
    shared_.reload.requests.add();
    const std::monostate configuration;
    const auto outcome = co_await shared_.reloads.ask(configuration, io_, reload_limit);
    if (!outcome) co_return with_retry_after(text_reply(503, "the configuration is still being read"));
    co_return text_reply(outcome->ok ? 200 : 400, outcome->text);
}

}  // namespace seriesgate
