#include "upstream/shared_store.hpp"

#include <algorithm>
#include <stdexcept>

namespace seriesgate {
namespace {

/// A name, with a number if others before it are the same.
template <class NameAt>
std::string numbered(NameAt name_at, std::size_t which) {
    std::size_t before = 0;
    for (std::size_t i = 0; i < which; ++i) before += name_at(i) == name_at(which) ? 1 : 0;
    return before == 0 ? name_at(which) : name_at(which) + "#" + std::to_string(before + 1);
}

std::string store_name(const upstream_config& of, std::size_t which) {
    if (of.discard) return {};
    return numbered([&](std::size_t i) { return store_at(of, i).backends.front().authority; }, which);
}

using stores = std::vector<const shared_store*>;

void write_errors(exposition& out, const stores& all) {
    out.family("seriesgate_upstream_door_errors_total",
               "Requests that an address of a store gave no answer to, by reason; another address may have.",
               metric_type::counter);
    for (const shared_store* store : all)
        for (const shared_backend& backend : store->backends)
            for (std::size_t i = 0; i < backend.errors.size; ++i) {
                const auto reason = static_cast<upstream_error_reason>(i);
                if (reason == upstream_error_reason::busy) continue;  // belongs to no backend
                out.sample({{"store", store->name}, {"door", backend.name}, {"reason", name_of(reason)}},
                           backend.errors[reason].value());
            }
}

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

std::unique_ptr<tls_files> load_tls(const store_config& store, const std::string& key) {
    if (std::ranges::none_of(store.backends, &store_backend::tls)) return nullptr;
    const store_tls_config& files = store.tls;
    auto made = tls_files::load({.role = tls_role::client},
                                {.certificates = files.cert_file, .key = files.key_file, .authorities = files.ca_file});
    if (!made) throw std::runtime_error(key + ".tls: " + made.error());
    return *std::move(made);
}

}  // namespace

std::size_t count_backends(const upstream_config& of) {
    std::size_t count = of.store.backends.size();
    for (const replica_config& each : of.replicas) count += each.store.backends.size();
    return count;
}

std::size_t share_of_connections(const upstream_config& of, std::size_t workers) {
    const std::size_t shares = std::max<std::size_t>(1, workers * count_backends(of));
    return std::max<std::size_t>(1, static_cast<std::size_t>(of.connections_max) / shares);
}

shared_store::shared_store(const upstream_config& upstream_, std::size_t which, upstream_metrics& metrics_,
                           std::size_t workers)
    : upstream(upstream_),
      settings(store_at(upstream_, which)),
      metrics(metrics_),
      name(store_name(upstream_, which)),
      access(settings, store_key(which)),
      connections_each_max(share_of_connections(upstream_, workers)) {
    const auto& all = settings.backends;
    const auto authority = [&all](std::size_t i) { return all[i].authority; };
    for (std::size_t i = 0; i < all.size(); ++i) backends.emplace_back(all[i], numbered(authority, i), all.size() == 1);
}

std::string shared_store::name_fault() {
    for (shared_backend& each : backends) {
        const std::string fault = each.resolving.fault();
        if (!fault.empty()) return each.at.host + ": " + fault;
    }
    return {};
}

void write_backends(exposition& out, const stores& all) {
    const auto write_each_backend = [&](std::string_view name, std::string_view help, metric_type type, auto value) {
        out.family(name, help, type);
        for (const shared_store* store : all)
            for (const shared_backend& backend : store->backends)
                out.sample({{"store", store->name}, {"door", backend.name}}, value(backend));
    };
    const auto write_each_store = [&](std::string_view name, std::string_view help, metric_type type, auto value) {
        out.family(name, help, type);
        for (const shared_store* store : all) out.sample({{"store", store->name}}, value(*store));
    };
    write_each_backend("seriesgate_upstream_door_up",
                       "Whether an address of a store answered when it was asked last, errors included.",
                       metric_type::gauge, [](const shared_backend& of) { return of.health.is_up() ? 1 : 0; });
    write_each_backend("seriesgate_upstream_door_requests_total",
                       "Requests sent to an address of a store, those included that got no answer.",
                       metric_type::counter, [](const shared_backend& of) { return of.requests.value(); });
    write_errors(out, all);
    write_each_backend("seriesgate_upstream_door_in_flight", "Requests that an address of a store has yet to answer.",
                       metric_type::gauge, [](const shared_backend& of) { return of.in_flight.value(); });
    write_each_backend("seriesgate_upstream_door_connections",
                       "Open connections to an address of a store, idle ones included.", metric_type::gauge,
                       [](const shared_backend& of) { return of.connections.value(); });
    write_each_store("seriesgate_upstream_waits_total",
                     "Requests that had to wait for a connection to a store, see upstream.maxConnections.",
                     metric_type::counter, [](const shared_store& of) { return of.waits.value(); });
    write_each_store("seriesgate_upstream_waiting", "Requests that wait for a connection to a store now.",
                     metric_type::gauge, [](const shared_store& of) { return of.waiting.value(); });
    std::int64_t connections = 0;
    for (const shared_store* store : all)
        for (const shared_backend& backend : store->backends) connections += backend.connections.value();
    write_gauge(out, "seriesgate_upstream_connections", "Open connections to all stores, idle ones included.",
                connections);
}

store_access::store_access(const store_config& store, const std::string& key)
    : store_(store),
      has_authorization_(
          std::ranges::any_of(store.headers, [](const auto& each) { return is_authorization(each.first); })),
      has_query_(std::ranges::any_of(
          store.backends, [](const auto& each) { return each.url.reveal().find('?') != std::string::npos; })),
      file_(file_of(store, key)),
      proof_(std::make_unique<const proof>(make_proof())),
      tls_(load_tls(store, key)) {}

store_access::proof store_access::make_proof() const {
    if (!file_) return {};
    const std::string& secret = file_->secret().reveal();
    return {.secret = secret, .authorization = authorization_text(store_.basic_auth.username, secret)};
}

void store_access::refresh(const file_look& look) {
    const std::scoped_lock lock{reading_};
    if (file_ && file_->refresh(look)) proof_.publish(std::make_unique<const proof>(make_proof()));
    if (tls_) tls_->refresh(look);
}

bool store_access::put_into(http::fields& request) const {
    for (const auto& [name, value] : store_.headers) request.set(name, value.reveal());
    if (const auto own = proof_.read(); !own->authorization.reveal().empty()) {
        request.set(http::field::authorization, own->authorization.reveal());
        return true;
    }
    if (has_authorization_) return true;
    return !store_.headers.empty() && request.find(http::field::authorization) == request.end();
}

std::string store_access::without_secrets(std::string_view text) const {
    std::vector<secret_text> ours;
    for (const auto& [name, value] : store_.headers) {
        ours.push_back(value);
        if (is_authorization(name)) ours.emplace_back(behind_scheme(value.reveal()));
    }
    {
        const auto own = proof_.read();
        ours.push_back(own->secret);
        ours.emplace_back(behind_scheme(own->authorization.reveal()));
    }
    for (const store_backend& each : store_.backends) add_arguments_of(each.url, ours);
    return without(std::move(ours), text);
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

std::vector<std::string> faults_of_files(const config& of) {
    std::vector<std::string> found;
    const auto look_at = [&found](const store_config& store, const std::string& key) {
        try {
            const store_access tried{store, key};
        } catch (const std::runtime_error& error) {
            found.emplace_back(error.what());
        }
    };
    for (std::size_t which = 0; which <= of.upstream.replicas.size(); ++which)
        look_at(store_at(of.upstream, which), store_key(which));
    look_at(of.warm_start.store, "warmStart");
    return found;
}

}  // namespace seriesgate
