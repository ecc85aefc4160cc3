#include "config/store_checks.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <string>

#include "config/store_keys.hpp"

namespace seriesgate {
namespace {

constexpr std::string_view without_https = "is not used: no URL of the store has https://";

void tell_own(const placed_value& at, std::string_view key, const own_listener& ours, const store_backend& backend) {
    const own_address found = find_own_address(ours.where, backend);
    if (found == own_address::yes) at.fail_below(key, in_words(found, ours.key));
    if (found == own_address::maybe) at.warn_below(key, in_words(found, ours.key));
}

bool has_https(const store_config& store) {
    return std::ranges::any_of(store.backends, &store_backend::tls);
}

/// Whether what goes to one store goes to the other as well, in the same words.
bool are_one(const store_config& one, const store_config& other) {
    const bool same_words = one.headers == other.headers && one.basic_auth == other.basic_auth &&
                            one.bearer_token_file == other.bearer_token_file;
    return same_words && std::ranges::any_of(one.backends, [&](const store_backend& backend) {
               return std::ranges::any_of(other.backends,
                                          [&](const store_backend& each) { return are_same(backend, each); });
           });
}

/// Where the replica's store comes before it: each sample would be written twice.
std::string where_it_is_already(std::size_t which, const upstream_config& upstream) {
    const store_config& found = upstream.replicas[which].store;
    if (are_one(found, upstream.store)) return "upstream";
    for (std::size_t i = 0; i < which; ++i)
        if (are_one(found, upstream.replicas[i].store)) return "upstream.replicateTo[" + std::to_string(i) + "]";
    return "";
}

}  // namespace

void check_own_backends(const placed_value& at, const store_config& store, const own_listener& ours) {
    if (store.backends.empty() || at.value().items.size() != store.backends.size())
        return;  // some are wrong in other ways
    const auto items = at.items();
    for (std::size_t i = 0; i < items.size(); ++i) {
        const own_address found = find_own_address(ours.where, store.backends[i]);
        if (found == own_address::yes) items[i].fail(in_words(found, ours.key));
        if (found == own_address::maybe) items[i].warn(in_words(found, ours.key));
    }
}

void check_own_replicas(const placed_value& at, const upstream_config& upstream, const own_listener& ours) {
    if (upstream.replicas.empty()) return;
    const auto items = at.items();
    assert(items.size() >= upstream.replicas.size());
    for (std::size_t i = 0; i < upstream.replicas.size(); ++i) {
        const auto& backends = upstream.replicas[i].store.backends;
        const bool has_one = backends.size() == 1;
        for (std::size_t backend = 0; backend < backends.size(); ++backend)
            tell_own(items[i], has_one ? "url" : key_of_item("urls", backend), ours, backends[backend]);
    }
}

void check_replicas_differ(const placed_value& at, const upstream_config& upstream) {
    if (upstream.replicas.empty()) return;
    const auto items = at.items();
    assert(items.size() >= upstream.replicas.size());
    for (std::size_t i = 0; i < upstream.replicas.size(); ++i)
        if (const auto first = where_it_is_already(i, upstream); !first.empty())
            items[i].fail("is a store that gets the same already, as " + first);
}

void doubt_store_tls(const placed_value& at, const config& read) {
    const store_config& store = read.upstream.store;
    if (store.tls != store_tls_config{} && !read.upstream.discard && !has_https(store))
        at.warn(std::string{without_https});
}

void doubt_replicas(const placed_value& at, const config& read) {
    const auto items = at.items();
    assert(items.size() == read.upstream.replicas.size());
    if (read.upstream.discard && !items.empty()) at.warn("is not used: with 'discard:' nothing is forwarded");
    for (std::size_t i = 0; i < items.size(); ++i) {
        const store_config& store = read.upstream.replicas[i].store;
        if (store.tls != store_tls_config{} && !has_https(store))
            items[i].warn_below("tls", std::string{without_https});
    }
}

}  // namespace seriesgate
