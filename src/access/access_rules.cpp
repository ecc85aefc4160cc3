#include "access/access_rules.hpp"

#include <algorithm>

#include "access/authorization.hpp"
#include "access/bcrypt.hpp"

namespace seriesgate {
namespace {

constexpr std::string_view of_token = "token";
constexpr std::string_view of_password = "password";

/// Unknown users take as long as those whose passwords take longest.
std::string hash_of_nobody(const web_config& from) {
    int cost = 0;
    for (const auto& [name, hash] : from.basic_auth_users) cost = std::max(cost, bcrypt_cost(hash.reveal()));
    return cost == 0 ? std::string{} : bcrypt_of_nobody(cost);
}

}  // namespace

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
    access_decision made = judge(asked);
    made.authorization_is_ours = has_users();
    return made;
}

access_decision access_rules::judge(const access_question& asked) const {
    if (excluded_paths_.contains(asked.path)) return {};
    access_decision made = has_users() ? identify(asked) : access_decision{.user = std::string{asked.certificate_name}};
    if (made.is != access_verdict::granted) return made;
    return admit(std::move(made.user), asked);
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

}  // namespace seriesgate
