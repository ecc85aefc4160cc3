#include "http/authentication.hpp"

#include <fmt/format.h>

#include <boost/asio/ip/address.hpp>
#include <string>
#include <utility>

#include "net/async.hpp"
#include "net/socket.hpp"

namespace seriesgate {
namespace {

access_question question_of(const request_header& header, const route* to, std::string_view certificate_name,
                            std::string_view tenant_header) {
    const bool is_ingestion = to != nullptr && to->kind == route_kind::ingestion;
    access_question made{.path = path_of(header.target()),
                         .side = is_ingestion ? access_side::ingestion : access_side::admin,
                         .certificate_name = certificate_name};
    const auto authorization = header.find(http::field::authorization);
    if (header.count(http::field::authorization) == 1) made.authorization = authorization->value();
    if (const auto tenant = header.find(tenant_header); tenant != header.end()) made.tenant = tenant->value();
    return made;
}

/// The same answer for every failure, so that it does not reveal which users exist.
reply unauthenticated(const access_rules& rules) {
    reply made = rejection(reject_reason::unauthenticated, 401,
                           "not authenticated: the gate asks for a user and password, or a token, that it knows");
    if (rules.has_basic_users()) made.headers.insert(http::field::www_authenticate, "Basic realm=\"seriesgate\"");
    if (rules.has_tokens()) made.headers.insert(http::field::www_authenticate, "Bearer realm=\"seriesgate\"");
    return made;
}

reply forbidden(const access_decision& decided, access_side side) {
    const std::string who =
        decided.user.empty() ? std::string{"who is nobody in particular"} : "the user " + shown_in_answer(decided.user);
    if (decided.is == access_verdict::foreign_tenant)
        return rejection(
            reject_reason::forbidden, 403,
            fmt::format("forbidden: {} writes for the tenant {} only", who, shown_in_answer(decided.bound_tenant)));
    return rejection(reject_reason::forbidden, 403,
                     fmt::format("forbidden: {} may not use {}", who,
                                 side == access_side::ingestion ? "remote write" : "the admin endpoints"));
}

reply passwords_held() {
    return come_again(
        rejection(reject_reason::passwords_held, 503, "too many passwords wait to be checked: the sender comes again"));
}

/// The key for fair turns: the network of an address, see network_of(), or the peer's name if it has no address.
std::string turn_of(std::string_view peer) {
    error_code no_address;
    const auto address = net::ip::make_address(peer, no_address);
    return no_address ? std::string{peer} : network_of(address).to_string();
}

/// Queues an unknown password for its check, and waits. Unchecked if the queue is full or the check takes too long.
net::awaitable<password_verdict> check_password(worker& self, std::string_view peer,
                                                const password_question& question) {
    awaited<password_verdict> verdict{self.io};
    const bool taken = self.shared.access.ask(turn_of(peer), question, verdict.to_give());
    if (!taken) co_return password_verdict::unchecked;
    const auto made = co_await verdict.wait(access_control::wait_max);
    co_return made.value_or(password_verdict::unchecked);
}

std::optional<reply> answer_to(const access_decision& decided, access_side side, const access_control& access) {
    switch (decided.is) {
        case access_verdict::granted:
            return std::nullopt;
        case access_verdict::unauthenticated:
            return unauthenticated(*access.rules());
        case access_verdict::unchecked:
            return passwords_held();
        default:
            return forbidden(decided, side);
    }
}

}  // namespace

net::awaitable<std::optional<reply>> authenticate(const request_header& header, const route* to, connection_facts from,
                                                  worker& self, identity& who) {
    access_control& access = self.shared.access;
    const access_question asked = question_of(header, to, from.certificate_name, self.shared.tenant_header);
    access_decision decided = access.decide(asked);
    if (decided.is == access_verdict::unchecked) {
        const password_verdict made = co_await check_password(self, from.peer, *decided.unchecked);
        if (made == password_verdict::right) decided = access.decide(asked);
        if (made == password_verdict::wrong) decided.is = access_verdict::unauthenticated;
    }
    auto rejected = answer_to(decided, asked.side, access);
    who = {.user = std::move(decided.user),
           .bound_tenant = std::move(decided.bound_tenant),
           .authorization_is_ours = decided.authorization_is_ours};
    co_return rejected;
}

void add_answer_headers(const access_control& access, http::fields& headers) {
    const auto rules = access.rules();
    for (const auto& [name, value] : rules->answer_headers())
        if (headers.find(name) == headers.end()) headers.set(name, value);
}

}  // namespace seriesgate
