#include "upstream/store_access.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace seriesgate {
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
