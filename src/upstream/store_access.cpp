#include "upstream/store_access.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

#include "core/bytes.hpp"

namespace seriesgate {
namespace {

bool is_authorization(std::string_view name) {
    return http::string_to_field(name) == http::field::authorization;
}

/// The part after the scheme: `x` of `Bearer x`.
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

namespace {

std::unique_ptr<tls_files> load_tls(const store_config& store, const std::string& key) {
    if (std::ranges::none_of(store.backends, &store_backend::tls)) return nullptr;
    const store_tls_config& files = store.tls;
    auto made = tls_files::load({.role = tls_role::client},
                                {.certificates = files.cert_file, .key = files.key_file, .authorities = files.ca_file});
    if (!made) throw std::runtime_error(key + ".tls: " + made.error());
    return *std::move(made);
}

bool has_arguments(const store_backend& backend) {
    return backend.url.reveal().find('?') != std::string::npos;
}

}  // namespace

store_access::store_access(const store_config& store, const std::string& key)
    : store_(store),
      credentials_(store, key),
      has_query_(std::ranges::any_of(store.backends, has_arguments)),
      tls_(load_tls(store, key)) {}

void store_access::refresh(const file_look& look) {
    const std::scoped_lock lock{reading_};
    credentials_.refresh(look);
    if (tls_) tls_->refresh(look);
}

std::string store_access::without_secrets(std::string_view text) const {
    std::vector<secret_text> ours;
    credentials_.add_secrets(ours);
    for (const store_backend& each : store_.backends) add_arguments_of(each.url, ours);
    return without(std::move(ours), text);
}

std::shared_ptr<const tls_context> store_access::tls() const {
    return tls_ ? tls_->current() : nullptr;
}

std::unique_ptr<tls_session> store_access::make_session(std::shared_ptr<const tls_context> with,
                                                        const store_backend& backend) const {
    const std::string& name = store_.tls.server_name.empty() ? backend.host : store_.tls.server_name;
    return std::make_unique<tls_session>(std::move(with), name);
}

const store_config& store_at(const upstream_config& of, std::size_t which) {
    return which == 0 ? of.store : of.replicas[which - 1].store;
}

std::string store_key(std::size_t which) {
    return which == 0 ? "upstream" : "upstream.replicateTo[" + std::to_string(which - 1) + "]";
}

std::vector<std::string> faults_of_files(const upstream_config& of) {
    std::vector<std::string> found;
    for (std::size_t which = 0; which <= of.replicas.size(); ++which) try {
            const store_access tried{store_at(of, which), store_key(which)};
        } catch (const std::runtime_error& error) {
            found.emplace_back(error.what());
        }
    return found;
}

}  // namespace seriesgate
