// Stores as a file would have them. Members are taken apart by structured bindings: one more of them, and this does not
// compile until it is shown, too.
#include "config/shown.hpp"
#include "config/store_keys.hpp"
#include "config/yaml_text.hpp"

namespace seriesgate {
namespace {

void add(std::vector<yaml_member>& members, std::string_view name, const std::string& text) {
    if (!text.empty()) members.push_back(yaml_entry(name, yaml_scalar(text)));
}

void add(std::vector<yaml_member>& members, std::string_view name, yaml_value map) {
    if (!map.members.empty()) members.push_back(yaml_entry(name, std::move(map)));
}

yaml_value show_replica(const replica_config& from) {
    const auto& [store, best_effort] = from;
    const auto& [backends, tls, basic_auth, bearer_token_file, headers] = store;
    std::vector<yaml_member> members;
    if (backends.size() == 1)
        members.push_back(yaml_entry("url", yaml_scalar(shown(backends.front().url))));
    else
        members.push_back(yaml_entry("urls", show_backends(backends)));
    members.push_back(yaml_entry("bestEffort", yaml_scalar(shown(best_effort))));
    add(members, "tls", show_store_tls(tls));
    add(members, "basicAuth", show_basic_auth(basic_auth));
    add(members, "bearerTokenFile", bearer_token_file);
    add(members, "headers", show_store_headers(headers));
    return yaml_map(std::move(members));
}

}  // namespace

yaml_value show_backends(const std::vector<store_backend>& from) {
    std::vector<yaml_value> items;
    for (const store_backend& backend : from) items.push_back(yaml_scalar(shown(backend.url)));
    return yaml_list(std::move(items));
}

yaml_value show_store_tls(const store_tls_config& from) {
    const auto& [ca_file, cert_file, key_file, server_name] = from;
    std::vector<yaml_member> members;
    add(members, "caFile", ca_file);
    add(members, "certFile", cert_file);
    add(members, "keyFile", key_file);
    add(members, "serverName", server_name);
    return yaml_map(std::move(members));
}

yaml_value show_basic_auth(const basic_auth_config& from) {
    const auto& [username, password_file] = from;
    std::vector<yaml_member> members;
    add(members, "username", username);
    add(members, "passwordFile", password_file);
    return yaml_map(std::move(members));
}

yaml_value show_store_headers(const std::map<std::string, secret_text, std::less<>>& from) {
    std::vector<yaml_member> members;
    for (const auto& [name, value] : from)
        members.push_back(yaml_entry(name, yaml_scalar(value == secret_text{} ? "" : std::string{secret_mark})));
    return yaml_map(std::move(members));
}

yaml_value show_replicas(const std::vector<replica_config>& from) {
    std::vector<yaml_value> items;
    for (const replica_config& each : from) items.push_back(show_replica(each));
    return yaml_list(std::move(items));
}

}  // namespace seriesgate
