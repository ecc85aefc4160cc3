#include "admin/admin_handler.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "http/query.hpp"
#include "ingest/write_handler.hpp"
#include "metrics/exposition.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

/// Far longer than a page takes; a reload may have to wait for the one before.
constexpr auto page_limit = 10s;
constexpr auto reload_limit = 30s;
/// There may be any number of lists of different lengths: they leave room for the two whole pages, and little to wait
/// for.
constexpr std::size_t cut_lists_max = 4;

using answering = net::awaitable<reply>;

answering healthy(admin_request, worker&) {
    co_return text_reply(200, "OK");
}

answering ready(admin_request, worker& self) {
    if (self.shared.draining) co_return text_reply(503, "draining: shutting down");
    if (!self.shared.ready) co_return text_reply(503, "starting");
    co_return text_reply(200, "OK");
}

reply come_again(reply made) {
    made.headers.set(http::field::retry_after, "1");
    return made;
}

/// HEAD has nothing made: a page of many budgets takes a while.
answering page(page_key key, std::string_view type, bool is_head, worker& self) {
    reply made{.status = 200, .length_unknown = is_head};
    made.headers.set(http::field::content_type, type);
    if (is_head) co_return made;
    const std::size_t ahead_max = key.is_cut() ? cut_lists_max - 1 : page_desk::orders_max - 1;
    const auto text = co_await self.shared.pages.ask(key, self.io, page_limit, ahead_max);
    if (!text || *text == nullptr)
        co_return come_again(rejection(self.shared.metrics, reject_reason::pages_held, 503,
                                       "too many earlier answers are still being read, try again"));
    made.shared_body = *text;
    co_return made;
}

answering metrics(admin_request request, worker& self) {
    const page_key key{.kind = page_kind::metrics};
    co_return co_await page(key, exposition_content_type, request.is_head, self);
}

/// The key that `?limit=` asks for; nothing if that is no number.
std::optional<page_key> stats_key(std::string_view query) {
    page_key key{.kind = page_kind::stats};
    const auto values = argument_values(query, "limit");
    if (values.empty()) return key;
    const std::string& text = values.front();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), key.shown_max);
    if (values.size() > 1 || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return key;
}

answering stats(admin_request request, worker& self) {
    const auto key = stats_key(request.query);
    if (!key)
        co_return rejection(self.shared.metrics, reject_reason::bad_argument, 400,
                            "limit: expected one whole number, how many entries the lists may have");
    co_return co_await page(*key, "application/json", request.is_head, self);
}

answering reload(admin_request, worker& self) {
    self.shared.metrics.reload_requests.add();
    const std::monostate configuration;
    const auto outcome = co_await self.shared.reloads.ask(configuration, self.io, reload_limit);
    if (!outcome) co_return come_again(text_reply(503, "the configuration is still being read"));
    co_return text_reply(outcome->ok ? 200 : 400, outcome->text);
}

struct route {
    std::string_view path;
    answering (*answer)(admin_request, worker&);
    std::string_view methods = "GET, HEAD";
};

constexpr std::array routes{route{"/health", healthy},  route{"/-/healthy", healthy},
                            route{"/-/ready", ready},   route{"/stats", stats},
                            route{"/metrics", metrics}, route{"/-/reload", reload, "POST"}};

const route* find_route(std::string_view path) {
    const auto* const found = std::ranges::find(routes, path, &route::path);
    return found == routes.end() ? nullptr : found;
}

}  // namespace

std::string_view admin_methods(std::string_view path) {
    const route* const found = find_route(path);
    return found == nullptr ? std::string_view{} : found->methods;
}

net::awaitable<reply> handle_admin(admin_request request, worker& self) {
    return find_route(request.path)->answer(request, self);
}

}  // namespace seriesgate
