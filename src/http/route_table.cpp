#include "http/route_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>

#include "core/path_tenant.hpp"

namespace seriesgate {
namespace {

constexpr std::size_t shown_bytes_max = 100;

constexpr std::size_t tenant_bytes_max = 100;
constexpr std::size_t logged_user_bytes_max = 100;

}  // namespace

std::string shown_in_answer(std::string_view text) {
    std::string made{text.substr(0, shown_bytes_max)};
    for (char& c : made)
        if (c < ' ' || c > '~') c = '?';
    return made + (text.size() > shown_bytes_max ? "..." : "");
}

reply text_reply(unsigned status, std::string_view line) {
    reply made{.status = status, .headers = {}, .body = std::string{line} + "\n"};
    made.headers.set(http::field::content_type, "text/plain; charset=utf-8");
    made.headers.set("X-Content-Type-Options", "nosniff");
    return made;
}

reply rejection(reject_reason reason, unsigned status, std::string_view line) {
    reply made = text_reply(status, line);
    made.rejected = reason;
    return made;
}

reply with_retry_after(reply made) {
    made.headers.set(http::field::retry_after, "1");
    return made;
}

reply overloaded(const inflight_use& now) {
    return with_retry_after(
        rejection(reject_reason::overloaded, 503,
                  fmt::format("over server.maxInflightBytes: {} of {} bytes are held, {} of {} for bodies; try again",
                              now.held, now.held_max, now.bodies, now.bodies_max)));
}

reply out_of_memory() {
    return with_retry_after(rejection(reject_reason::overloaded, 503, "out of memory, try again"));
}

route_table::route_table(std::vector<route> routes) : routes_(std::move(routes)) {
    for ([[maybe_unused]] const route& each : routes_) {
        assert(each.path.starts_with('/') && each.path.find('?') == std::string_view::npos);
        assert(!each.methods.empty());
        assert(each.answer);
        assert(find_tenant_mark(each.path) || find(each.path) == &each);  // no duplicate path
    }
}

route_table route_table::of(route_kind kind) const {
    std::vector<route> some;
    std::ranges::copy_if(routes_, std::back_inserter(some), [kind](const route& each) { return each.kind == kind; });
    return route_table{std::move(some)};
}

const route* route_table::find(std::string_view path) const noexcept {
    if (path.find('{') != std::string_view::npos) return nullptr;  // a path that contains the mark itself
    const auto found = std::ranges::find(routes_, path, &route::path);
    return found == routes_.end() ? nullptr : &*found;
}

const route* route_table::find_by_tenant(std::string_view path, std::string& tenant) const {
    for (const route& each : routes_) {
        const auto pattern = find_tenant_mark(each.path);
        auto found = pattern ? tenant_in_path(path, *pattern) : std::nullopt;
        if (!found) continue;
        tenant = std::move(*found);
        return &each;
    }
    return nullptr;
}

bool is_logged_by_ingestion(reject_reason reason) noexcept {
    return reason == reject_reason::refused || reason == reject_reason::untranslated ||
           reason == reject_reason::left_out;
}

void log_rest(rejection_logs& of) {
    of.rest([](reject_reason reason, std::uint64_t requests) {
        log::warn("more requests rejected", {{"requests", requests}, {"reason", name_of(reason)}});
    });
}

std::string_view shown_tenant(std::string_view tenant) noexcept {
    return tenant.substr(0, tenant_bytes_max);
}

std::array<log::field, 7> describe_rejection(const reply& answer, std::uint64_t requests, std::string_view peer,
                                             std::string_view user, std::string_view tenant) {
    assert(answer.rejected && requests != 0);
    return {{{"requests", requests},
             {"reason", name_of(*answer.rejected)},
             {"sender", peer},
             {"user", user.substr(0, logged_user_bytes_max)},
             {"tenant", shown_tenant(tenant)},
             {"status", answer.status},
             {"err", std::string_view{answer.body}.substr(0, answer.body.find('\n'))}}};
}

void closings_log::log_new(const http_metrics& metrics) {
    const auto closings = metrics.connections_given_up.total() + metrics.connections_turned_away.total();
    const auto more = closings - std::exchange(logged_, closings);
    const auto times = more == 0 ? lines_.rest() : lines_.count(more);
    if (times) log::warn("too many connections: some are closed or turned away", {{"connections", *times}});
}

}  // namespace seriesgate
