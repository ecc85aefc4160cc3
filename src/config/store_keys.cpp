#include "config/store_keys.hpp"

#include <algorithm>

#include "config/endpoint.hpp"
#include "config/known_keys.hpp"
#include "config/rule_values.hpp"
#include "config/scalars.hpp"
#include "config/wording.hpp"
#include "core/text.hpp"

namespace seriesgate {
namespace {

constexpr std::string_view authorization = "Authorization";

template <auto assign>
void read_text(const placed_value& at, std::string& target) {
    read_scalar(at, [&](std::string_view text) { return assign(text, target); });
}

constexpr std::array tls_fields{
    field<store_tls_config>{"caFile", into<read_text<assign_path>, &store_tls_config::ca_file>},
    field<store_tls_config>{"certFile", into<read_text<assign_path>, &store_tls_config::cert_file>},
    field<store_tls_config>{"keyFile", into<read_text<assign_path>, &store_tls_config::key_file>},
    field<store_tls_config>{"serverName", into<read_text<parse_server_name>, &store_tls_config::server_name>},
};

constexpr std::array basic_auth_fields{
    field<basic_auth_config>{"username", into<read_text<assign_user_name>, &basic_auth_config::username>},
    field<basic_auth_config>{"passwordFile", into<read_text<assign_path>, &basic_auth_config::password_file>},
};

/// That another key makes the header that this one makes, too.
std::string other_authorization(const store_config& store) {
    const std::string_view other = !store.basic_auth.username.empty() ? "basicAuth"
                                   : !store.bearer_token_file.empty() ? "bearerTokenFile"
                                                                      : "";
    if (other.empty()) return "";
    return "stands beside " + in_quotes(other) + ": a request has one Authorization header";
}

void read_header(std::string_view name, const placed_value& at, store_config& target) {
    if (auto wrong = wrong_with_header(name); !wrong.empty()) return at.fail_key(std::move(wrong));
    const auto same = [name](const auto& other) { return equal_ignoring_case(name, other.first); };
    if (const auto first = std::ranges::find_if(target.headers, same); first != target.headers.end())
        return at.fail_key("is there already, as " + in_quotes(first->first));
    if (equal_ignoring_case(name, authorization))
        if (auto wrong = other_authorization(target); !wrong.empty()) return at.fail_key(std::move(wrong));
    std::string value;
    if (read_scalar(at, [&](std::string_view text) { return assign_header_value(text, value); }))
        target.headers.emplace(name, std::move(value));
}

}  // namespace

bool are_same(const store_backend& one, const store_backend& other) {
    return one.tls == other.tls && one.port == other.port && one.target == other.target &&
           equal_ignoring_case(one.host, other.host);
}

std::string assign_backend(std::string_view text, store_backend& target) {
    if (text == "discard:") return "is no store, and stands alone: as upstream.url";
    return parse_store_url(text, target);
}

void read_backends(const placed_value& at, store_config& target) {
    for (const placed_value& item : read_items(at, backends_max)) {
        store_backend backend;
        if (!read_scalar(item, [&](std::string_view text) { return assign_backend(text, backend); })) continue;
        const auto same = [&](const store_backend& other) { return are_same(backend, other); };
        if (std::ranges::any_of(target.backends, same))
            item.fail("is there already");
        else
            target.backends.push_back(std::move(backend));
    }
}

void read_store_tls(const placed_value& at, store_config& target) {
    read_tls_files(at, target.tls);
}

void read_tls_files(const placed_value& at, store_tls_config& tls) {
    read_fields(at, tls_fields, tls);
    if (!tls.cert_file.empty() && tls.key_file.empty()) at.fail_below("keyFile", "is required beside certFile");
    if (tls.cert_file.empty() && !tls.key_file.empty()) at.fail_below("certFile", "is required beside keyFile");
}

void read_basic_auth(const placed_value& at, store_config& target) {
    basic_auth_config& basic = target.basic_auth;
    read_fields(at, basic_auth_fields, basic);
    if (basic.username.empty() && !basic.password_file.empty())
        at.fail_below("username", "is required beside passwordFile");
    if (!basic.username.empty() && basic.password_file.empty())
        at.fail_below("passwordFile", "is required: the password stands in a file of its own");
}

void read_bearer_token_file(const placed_value& at, store_config& target) {
    std::string path;
    if (!read_scalar(at, [&](std::string_view text) { return assign_path(text, path); }) || path.empty()) return;
    if (auto wrong = other_authorization(target); !wrong.empty()) return at.fail_key(std::move(wrong));
    target.bearer_token_file = std::move(path);
}

void read_store_headers(const placed_value& at, store_config& target) {
    const auto members = at.members();
    if (members.size() > store_headers_max)
        return at.fail("has " + std::to_string(members.size()) + " headers, at most " +
                       std::to_string(store_headers_max) + " are possible");
    for (const auto& [name, value] : members) read_header(name, value, target);
}

void read_upstream_backends(const placed_value& at, config& target) {
    upstream_config& upstream = target.upstream;
    const bool has_url = upstream.discard || !upstream.store.backends.empty();
    if (has_url && !at.value().items.empty())
        return at.fail_key("stands beside 'url': one of the two says where the store is");
    read_backends(at, upstream.store);
}

}  // namespace seriesgate
