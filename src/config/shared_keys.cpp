#include "config/shared_keys.hpp"

#include <algorithm>
#include <utility>

#include "config/redis_url.hpp"
#include "config/rule_values.hpp"
#include "config/shown.hpp"
#include "config/store_keys.hpp"
#include "config/wording.hpp"
#include "config/yaml_text.hpp"

namespace seriesgate {
namespace {

constexpr std::string_view namespace_characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";

/// Redis has a space end a name, of a user as of a master.
bool is_one_word(std::string_view text) noexcept {
    return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) > ' ' && c != '\x7f'; });
}

std::string assign_word(std::string_view text, std::string& target) {
    if (!is_one_word(text)) return "must not hold spaces or control characters";
    target = text;
    return "";
}

}  // namespace

std::string assign_shared_url(std::string_view text, shared_config& target) {
    redis_config store = target.store;
    if (text.empty()) {
        const redis_config none;
        store.host = none.host;
        store.port = none.port;
        store.unix_path = none.unix_path;
        store.tls = none.tls;
        store.database = none.database;
    } else if (auto wrong = parse_redis_url(text, store); !wrong.empty()) {
        return wrong;
    }
    target.store = std::move(store);
    target.url = text;
    return "";
}

std::string assign_namespace(std::string_view text, std::string& target) {
    if (text.empty()) return "is empty, expected a name such as default";
    if (text.size() > namespace_bytes_max)
        return "has " + std::to_string(text.size()) + " characters, at most " + std::to_string(namespace_bytes_max) +
               " are possible";
    if (text.find_first_not_of(namespace_characters) != std::string_view::npos)
        return in_quotes(text) + " has other characters than letters, digits, '_', '.' and '-'";
    target = text;
    return "";
}

std::string assign_store_user(std::string_view text, std::string& target) {
    return assign_word(text, target);
}

std::string assign_sentinel_master(std::string_view text, std::string& target) {
    return assign_word(text, target);
}

std::string assign_unavailable(std::string_view text, unavailable_answer& target) {
    if (text != "local" && text != "refuse" && text != "admit")
        return in_quotes(text) + " is none of local, refuse and admit";
    target = text == "admit"    ? unavailable_answer::admit
             : text == "refuse" ? unavailable_answer::refuse
                                : unavailable_answer::local;
    return "";
}

void read_sentinel_addresses(const placed_value& at, config& target) {
    std::vector<host_port>& addresses = target.shared.store.sentinel_addresses;
    for (const placed_value& item : read_items(at, sentinels_max)) {
        host_port address;
        if (!read_scalar(item, [&](std::string_view text) { return parse_sentinel_address(text, address); })) continue;
        if (std::ranges::count(addresses, address) != 0)
            item.fail("is there already");
        else
            addresses.push_back(std::move(address));
    }
}

void read_shared_tls(const placed_value& at, config& target) {
    read_tls_files(at, target.shared.store.tls_files);
}

yaml_value show_sentinel_addresses(const config& from) {
    std::vector<yaml_value> items;
    for (const host_port& each : from.shared.store.sentinel_addresses) items.push_back(yaml_scalar(shown(each)));
    return yaml_list(std::move(items));
}

yaml_value show_shared_tls(const config& from) {
    return show_store_tls(from.shared.store.tls_files);
}

}  // namespace seriesgate
