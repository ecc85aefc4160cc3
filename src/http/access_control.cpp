#include "http/access_control.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <exception>
#include <memory>

#include "base/log.hpp"
#include "core/text.hpp"
#include "net/http_fields.hpp"

namespace seriesgate {
namespace {

constexpr std::size_t user_bytes_max = 256;
constexpr std::size_t basic_bytes_max = (user_bytes_max + 1 + password_bytes_max + 2) / 3 * 4;

/// Strict: requires padding, allows nothing else, and no bits behind the last byte. Source: RFC 4648, section 4.
std::optional<std::string> from_base64(std::string_view text) {
    std::string bytes(text.size(), '\0');
    const int size =
        EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                        reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
    if (size < 0) return std::nullopt;
    const int padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
    bytes.resize(static_cast<std::size_t>(std::max(0, size - padding)));
    return to_base64(bytes) == text ? std::optional{bytes} : std::nullopt;
}

credentials basic(std::string_view encoded) {
    if (encoded.size() > basic_bytes_max) return {};
    const auto text = from_base64(encoded);
    if (!text) return {};
    const std::size_t colon = text->find(':');
    if (colon == std::string::npos || colon > user_bytes_max) return {};
    std::string password = text->substr(colon + 1);
    // To bcrypt a zero byte ends the password.
    if (password.size() > password_bytes_max || password.find('\0') != std::string::npos) return {};
    return {credentials::kind::basic, text->substr(0, colon), secret_text{std::move(password)}};
}

credentials bearer(std::string_view token) {
    if (token.empty() || token.size() > token_bytes_max) return {};
    return {credentials::kind::bearer, {}, secret_text{token}};
}

constexpr std::string_view of_token = "token";
constexpr std::string_view of_password = "password";

/// As costly as the costliest real hash, so that the time of an answer does not show whether a user exists.
std::string hash_of_nobody(const web_config& from) {
    int cost = 0;
    for (const auto& [name, hash] : from.basic_auth_users) cost = std::max(cost, bcrypt_cost(hash.reveal()));
    return cost == 0 ? std::string{} : bcrypt_of_nobody(cost);
}

constexpr std::chrono::milliseconds rest_without_memory{100};

bool asks_anything(const web_config& of) {
    return of.has_users() || of.ingestion_users || of.admin_users || (of.tls && of.tls->verifies_clients()) ||
           !of.answer_headers.empty();
}

}  // namespace

credentials read_authorization(std::string_view value) {
    const std::size_t space = value.find(' ');
    if (space == std::string_view::npos) return {};
    const std::string_view scheme = value.substr(0, space);
    value.remove_prefix(std::min(value.find_first_not_of(' ', space), value.size()));
    if (equal_ignoring_case(scheme, "basic")) return basic(value);
    if (equal_ignoring_case(scheme, "bearer")) return bearer(value);
    return {};
}

access_rules::access_rules(const web_config& from, const digest_key& key, const access_rules* before)
    : has_tokens_(!from.bearer_tokens.empty()),
      ingestion_users_(from.ingestion_users),
      admin_users_(from.admin_users),
      tenants_(from.tenants),
      excluded_paths_(from.auth_excluded_paths),
      answer_headers_(from.answer_headers),
      hash_of_nobody_(hash_of_nobody(from)),
      key_(key) {
    for (const auto& [name, hash] : from.basic_auth_users) {
        basic_user& made = basic_[name];
        made.hash = hash.reveal();
        if (before == nullptr) continue;
        const auto old = before->basic_.find(name);
        if (old == before->basic_.end() || old->second.hash != made.hash || !old->second.right.is_known) continue;
        made.right.of = old->second.right.of;
        made.right.is_known = true;
    }
    for (const bearer_token& each : from.bearer_tokens)
        if (!each.token.reveal().empty()) tokens_.emplace(key.of({of_token, each.token.reveal()}), each.name);
}

access_decision access_rules::decide(const access_question& asked) const {
    access_decision made;
    if (!excluded_paths_.contains(asked.path)) {
        made = has_users() ? identify(asked) : access_decision{.user = std::string{asked.certificate_name}};
        if (made.is == access_verdict::granted) made = admit(std::move(made.user), asked);
    }
    made.authorization_is_ours = has_users();
    return made;
}

access_decision access_rules::identify(const access_question& asked) const {
    const credentials shown = asked.authorization ? read_authorization(*asked.authorization) : credentials{};
    if (shown.as == credentials::kind::basic && has_basic_users())
        return check_password(shown.user, shown.secret.reveal());
    if (shown.as == credentials::kind::bearer && has_tokens()) {
        const auto found = tokens_.find(key_.of({of_token, shown.secret.reveal()}));
        if (found != tokens_.end()) return {.user = found->second};
    }
    return {.is = access_verdict::unauthenticated, .user = shown.user};
}

access_decision access_rules::check_password(std::string user, std::string_view password) const {
    const auto known = basic_.find(user);
    const bool is_of_nobody = known == basic_.end();
    const std::string& hash = is_of_nobody ? hash_of_nobody_ : known->second.hash;
    password = password.substr(0, bcrypt_bytes_max);
    password_question question{.of = key_.of({of_password, user, hash, password}),
                               .user = user,
                               .hash = hash,
                               .password = secret_text{password},
                               .is_of_nobody = is_of_nobody};
    if (knows(question)) return {.user = std::move(user)};
    return {.is = access_verdict::unchecked, .user = std::move(user), .unchecked = std::move(question)};
}

access_decision access_rules::admit(std::string user, const access_question& asked) const {
    const auto& allowed = asked.side == access_side::ingestion ? ingestion_users_ : admin_users_;
    if (allowed && !allowed->contains(user)) return {.is = access_verdict::forbidden, .user = std::move(user)};
    const auto bound = tenants_.find(user);
    if (asked.side != access_side::ingestion || bound == tenants_.end()) return {.user = std::move(user)};
    if (asked.tenant && *asked.tenant != bound->second)
        return {.is = access_verdict::foreign_tenant, .user = std::move(user), .bound_tenant = bound->second};
    return {.user = std::move(user), .bound_tenant = bound->second};
}

const access_rules::basic_user* access_rules::user_of(const password_question& asked) const {
    const auto found = basic_.find(asked.user);
    return found != basic_.end() && found->second.hash == asked.hash ? &found->second : nullptr;
}

bool access_rules::knows(const password_question& asked) const {
    const basic_user* const user = user_of(asked);
    if (user == nullptr || !user->right.is_known.load(std::memory_order_acquire)) return false;
    return same_digest(user->right.of, asked.of);
}

void access_rules::remember(const password_question& right) const {
    const basic_user* const user = user_of(right);
    if (user == nullptr || user->right.is_known.load(std::memory_order_relaxed)) return;
    user->right.of = right.of;
    user->right.is_known.store(true, std::memory_order_release);
}

access_control::access_control(const web_config& from)
    : rules_(std::make_unique<const access_rules>(from, key_, nullptr)), asks_(asks_anything(from)) {}

void access_control::take_over(const web_config& next, const std::function<void()>& with) {
    const std::scoped_lock one_at_a_time{writing_};
    auto made = [&] {
        const auto before = rules_.read();
        return std::make_unique<const access_rules>(next, key_, &*before);
    }();
    with();
    rules_.publish(std::move(made));
    asks_.store(asks_anything(next), std::memory_order_relaxed);
}

access_decision access_control::decide(const access_question& asked, clock::time_point now) {
    access_decision made = rules()->decide(asked);
    if (made.is == access_verdict::unchecked && is_known_bad(made.unchecked->of, now)) {
        made.is = access_verdict::unauthenticated;
        made.unchecked.reset();
    }
    return made;
}

bool access_control::is_known_bad(const digest& of, clock::time_point now) {
    const std::scoped_lock lock{guard_};
    return bad_.contains(of, now);
}

std::optional<access_control::clock::duration> access_control::check_next() {
    const auto began = clock::now();
    std::optional<password_queue::order> order;
    auto made = password_verdict::unchecked;
    clock::duration rest{};
    try {
        order = queue.take();
        if (!order) return std::nullopt;
        if (began <= order->since + wait_max) made = check(order->question);  // else no request waits any more
    } catch (const std::exception& error) {                                   // out of memory: the sender tries again
        log::error("password not checked", {{"err", error.what()}});
        rest = rest_without_memory;
    }
    if (order) order->give(made);
    if (made == password_verdict::wrong)
        rest = std::min<clock::duration>((clock::now() - began) * rests_after_wrong, rest_max);
    return rest;
}

password_verdict access_control::check(const password_question& asked) {
    if (is_right(asked)) {
        rules()->remember(asked);
        return password_verdict::right;
    }
    const std::scoped_lock lock{guard_};
    bad_.insert(asked.of, clock::now());
    return password_verdict::wrong;
}

// Checks the known results first: several peers may have asked about the same password.
bool access_control::is_right(const password_question& asked) {
    if (is_known_bad(asked.of, clock::now())) return false;
    if (rules()->knows(asked)) return true;
    return bcrypt_matches(asked.password.reveal(), asked.hash) && !asked.is_of_nobody;
}

}  // namespace seriesgate
