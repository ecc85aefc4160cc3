#include "http/request_head.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <utility>

#include "core/text.hpp"
#include "net/async.hpp"
#include "net/socket.hpp"

namespace seriesgate {
namespace {

/// Characters of a host and port. Source: RFC 3986, section 3.2.2.
constexpr std::string_view host_characters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~%!$&'()*+,;=:[]";

std::string_view host_fault(const request_header& header) {
    const auto hosts = header.count(http::field::host);
    if (hosts > 1) return "more than one Host";
    if (hosts == 0) return header.version() == 11 ? "HTTP/1.1 without Host" : "";
    const std::string_view value = header.find(http::field::host)->value();
    return value.find_first_not_of(host_characters) == std::string_view::npos ? "" : "Host is no host";
}

/// Equal duplicates are harmless.
bool names_two_tenants(const request_header& header, std::string_view tenant_header) {
    const auto [first, last] = header.equal_range(tenant_header);
    return std::any_of(first, last, [first = first](const auto& line) { return line.value() != first->value(); });
}

constexpr std::string_view unreserved_characters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";

/// Decodes a sequence such as "%61", if its character needs no encoding. Source: RFC 3986, section 2.3.
std::optional<char> unreserved_in(std::string_view encoded) {
    if (encoded.size() < 3 || encoded.front() != '%') return std::nullopt;
    const auto value = whole_number<unsigned>(encoded.substr(1, 2), 16);
    const char c = static_cast<char>(value.value_or(0));
    return unreserved_characters.find(c) == std::string_view::npos ? std::nullopt : std::optional{c};
}

/// Turns `http://gate/write` into `/write` if the authority is this host. Other targets stay unchanged.
std::string_view without_authority(std::string_view target, const request_header& header) {
    const auto scheme_end = target.find("://");
    if (target.starts_with('/') || scheme_end == std::string_view::npos) return target;
    const std::string_view scheme = target.substr(0, scheme_end);
    const bool is_https = equal_ignoring_case(scheme, "https");
    if (!is_https && !equal_ignoring_case(scheme, "http")) return target;
    const std::string_view left = target.substr(scheme_end + 3);
    const std::string_view authority = left.substr(0, left.find('/'));
    const auto host = header.find(http::field::host);
    const bool is_ours = host == header.end() || is_same_host(authority, host->value(), is_https ? ":443" : ":80");
    if (authority.empty() || authority.find('@') != std::string_view::npos || !is_ours) return target;
    return authority.size() == left.size() ? "/" : left.substr(authority.size());
}

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
    return with_retry_after(
        rejection(reject_reason::passwords_held, 503, "too many passwords wait to be checked: the sender comes again"));
}

/// The key for fair turns: the network of an address, see network_of(), or the peer's name if it has no address.
std::string turn_of(std::string_view peer) {
    error_code no_address;
    const auto address = net::ip::make_address(peer, no_address);
    return no_address ? std::string{peer} : network_of(address).to_string();
}

/// Queues an unknown password for its check, and waits. Unchecked if the queue is full or the check takes too long.
net::awaitable<password_verdict> check_password(worker& thread, std::string_view peer,
                                                const password_question& question) {
    awaited<password_verdict> verdict{thread.io};
    const bool taken = thread.shared.access.queue.add(turn_of(peer), question, verdict.to_give());
    if (!taken) co_return password_verdict::unchecked;
    const auto made = co_await verdict.wait(access_control::wait_max);
    co_return made.value_or(password_verdict::unchecked);
}

std::optional<reply> answer_to(const access_decision& decided, access_side side, const access_control& access) {
    if (decided.is == access_verdict::granted) return std::nullopt;
    if (decided.is == access_verdict::unauthenticated) return unauthenticated(*access.rules());
    return decided.is == access_verdict::unchecked ? passwords_held() : forbidden(decided, side);
}

}  // namespace

std::string path_meant(const request_header& header) {
    const std::string_view written = without_authority(path_of(header.target()), header);
    std::string meant;
    for (std::size_t i = 0; i < written.size(); ++i) {
        const auto plain = unreserved_in(written.substr(i));
        if (written[i] == '/' && meant.ends_with('/')) continue;
        meant += plain.value_or(written[i]);
        if (plain) i += 2;
    }
    if (meant.size() > 1 && meant.ends_with('/')) meant.pop_back();
    return meant;
}

std::string_view path_of(std::string_view target) {
    return target.substr(0, target.find('?'));
}

std::string_view query_of(std::string_view target) {
    const auto at = target.find('?');
    return at == std::string_view::npos ? std::string_view{} : target.substr(at + 1);
}

bool is_same_host(std::string_view authority, std::string_view other, std::string_view usual_port) {
    const auto without_port = [usual_port](std::string_view of) {
        return of.ends_with(usual_port) ? of.substr(0, of.size() - usual_port.size()) : of;
    };
    return equal_ignoring_case(without_port(authority), without_port(other));
}

bool is_allowed(std::string_view method, std::string_view list) {
    bool found = false;
    for_each_item(list, [&](std::string_view each) {
        found = each == method;
        return !found;
    });
    return found;
}

std::string_view fault_of(const request_header& header, std::string_view tenant_header) {
    if (const std::string_view fault = coding_fault(header, header.version()); !fault.empty()) return fault;
    if (names_two_tenants(header, tenant_header)) return "two tenant headers that differ";
    return host_fault(header);
}

std::string forwarded_sender(const request_header& header, std::span<const ip_network> trusted) {
    forwarded_chain listed{trusted}, forwarded{trusted};
    const auto [first, last] = header.equal_range("X-Forwarded-For");
    for (auto line = first; line != last; ++line) listed.add_list(line->value());
    const auto [first_other, last_other] = header.equal_range(http::field::forwarded);
    for (auto line = first_other; line != last_other; ++line) forwarded.add_forwarded(line->value());
    const forwarded_chain& said = listed.is_empty() ? forwarded : listed;
    const bool is_agreed = listed.is_empty() || forwarded.is_empty() || listed.sender() == forwarded.sender();
    return is_agreed && said.sender() ? said.sender()->to_string() : "";
}

bool expects_continue(const request_header& header) {
    if (header.version() == 10) return false;  // HTTP/1.0 would take 100 for the answer
    const auto expect = header.find(http::field::expect);
    return expect != header.end() && equal_ignoring_case(expect->value(), "100-continue");
}

net::awaitable<std::optional<reply>> authenticate(const request_header& header, const route* to,
                                                  const served_connection& peer, std::string_view sender,
                                                  access_decision& who) {
    access_control& access = peer.thread.shared.access;
    const access_question asked = question_of(header, to, peer.certificate_name, peer.thread.shared.tenant_header);
    access_decision decided = access.decide(asked);
    if (decided.is == access_verdict::unchecked) {
        const password_verdict made = co_await check_password(peer.thread, sender, *decided.unchecked);
        if (made == password_verdict::right) decided = access.decide(asked);
        if (made == password_verdict::wrong) decided.is = access_verdict::unauthenticated;
    }
    auto rejected = answer_to(decided, asked.side, access);
    decided.unchecked.reset();
    who = std::move(decided);
    co_return rejected;
}

void add_answer_headers(const access_control& access, http::fields& headers) {
    const auto rules = access.rules();
    for (const auto& [name, value] : rules->answer_headers())
        if (headers.find(name) == headers.end()) headers.set(name, value);
}

}  // namespace seriesgate
