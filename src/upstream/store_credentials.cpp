#include "upstream/store_credentials.hpp"

#include <algorithm>
#include <memory>

#include "core/bytes.hpp"

namespace seriesgate {
namespace {

bool is_authorization(std::string_view name) {
    return http::string_to_field(name) == http::field::authorization;
}

/// Of `Bearer x` the `x`.
std::string_view behind_scheme(std::string_view authorization) {
    return authorization.substr(authorization.find(' ') + 1);
}

std::optional<secret_file> file_of(const store_config& store, const std::string& key) {
    if (!store.basic_auth.password_file.empty())
        return secret_file{key + ".basicAuth.passwordFile", store.basic_auth.password_file};
    if (!store.bearer_token_file.empty()) return secret_file{key + ".bearerTokenFile", store.bearer_token_file};
    return std::nullopt;
}

}  // namespace

store_credentials::store_credentials(const store_config& store, const std::string& key)
    : headers_(store.headers),
      has_authorization_(
          std::ranges::any_of(store.headers, [](const auto& each) { return is_authorization(each.first); })),
      user_name_(store.basic_auth.username),
      file_(file_of(store, key)),
      proof_(std::make_unique<const proof>(make_proof())) {}

/// Sources: RFC 7617, section 2; RFC 6750, section 2.1.
store_credentials::proof store_credentials::make_proof() const {
    if (!file_) return {};
    const std::string& secret = file_->secret().reveal();
    return {.secret = secret,
            .authorization = user_name_.empty() ? "Bearer " + secret : "Basic " + to_base64(user_name_ + ":" + secret)};
}

void store_credentials::refresh(const file_look& look) {
    if (file_ && file_->refresh(look)) proof_.publish(std::make_unique<const proof>(make_proof()));
}

bool store_credentials::put_into(http::fields& request) const {
    for (const auto& [name, value] : headers_) request.set(name, value.reveal());
    if (const auto own = proof_.read(); !own->authorization.reveal().empty()) {
        request.set(http::field::authorization, own->authorization.reveal());
        return true;
    }
    if (has_authorization_) return true;
    return !headers_.empty() && request.find(http::field::authorization) == request.end();
}

void store_credentials::add_secrets(std::vector<secret_text>& to) const {
    for (const auto& [name, value] : headers_) {
        to.push_back(value);
        if (is_authorization(name)) to.emplace_back(behind_scheme(value.reveal()));
    }
    const auto own = proof_.read();
    to.push_back(own->secret);
    to.emplace_back(behind_scheme(own->authorization.reveal()));
}

}  // namespace seriesgate
