#include "config/store_checks.hpp"

#include <algorithm>
#include <cassert>

#include "config/own_address.hpp"

namespace seriesgate {
namespace {

constexpr std::string_view without_https = "is not used: no URL of the store has https://";

void tell_own(const placed_value& at, std::string_view key, own_address found) {
    if (found == own_address::yes) at.fail_below(key, std::string{in_words(found)});
    if (found == own_address::maybe) at.warn_below(key, std::string{in_words(found)});
}

bool has_https(const store_config& store) {
    return std::ranges::any_of(store.doors, &store_door::tls);
}

}  // namespace

void check_own_doors(const placed_value& at, const store_config& store, const listen_address& listen) {
    if (store.doors.empty() || at.value().items.size() != store.doors.size()) return;  // some are wrong in other ways
    const auto items = at.items();
    for (std::size_t i = 0; i < items.size(); ++i) {
        const own_address found = find_own_address(listen, store.doors[i]);
        if (found == own_address::yes) items[i].fail(std::string{in_words(found)});
        if (found == own_address::maybe) items[i].warn(std::string{in_words(found)});
    }
}

void check_own_replicas(const placed_value& at, const upstream_config& upstream, const listen_address& listen) {
    if (upstream.replicas.empty()) return;
    const auto items = at.items();
    assert(items.size() >= upstream.replicas.size());
    for (std::size_t i = 0; i < upstream.replicas.size(); ++i) {
        const auto& doors = upstream.replicas[i].store.doors;
        const bool has_one = doors.size() == 1;
        for (std::size_t door = 0; door < doors.size(); ++door)
            tell_own(items[i], has_one ? "url" : key_of_item("urls", door), find_own_address(listen, doors[door]));
    }
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
