// The keys of a store: where it is, how it proves who it is, and what requests to it say of us. They stand in
// `upstream`, for the first store, and in each item of `upstream.replicateTo`.
#include <algorithm>

#include "config/endpoint.hpp"
#include "config/keys.hpp"
#include "config/scalars.hpp"
#include "core/text.hpp"

namespace seriesgate {
namespace {

/// Every worker keeps connections to each of them.
constexpr std::size_t backends_max = 32;
constexpr std::size_t replicas_max = 8;
constexpr std::size_t headers_max = 32;

value_type<std::string> user_names_of_stores() {
    return texts("user name", "", [](std::string_view text) -> std::string {
        if (text.find(':') != std::string_view::npos)
            return "must not hold a ':': with basic authentication a name ends there";
        return has_control_character(text) ? "must not hold control characters" : "";
    });
}

const fields<store_tls_config>& tls_fields() {
    static const fields<store_tls_config> table{
        {"caFile", in<&store_tls_config::ca_file>{}, paths(),
         "PEM file with the authorities to believe, in place of the system's.", "/etc/seriesgate/ca.pem"},
        {"certFile", in<&store_tls_config::cert_file>{}, paths(), "PEM file with the gate's own certificate."},
        {"keyFile", in<&store_tls_config::key_file>{}, paths(), "PEM file with the key of `certFile`."},
        {"serverName", in<&store_tls_config::server_name>{}, texts_by("host name", "", parse_server_name),
         "The name in the store's certificate, if it is not the URL's host."},
    };
    return table;
}

const fields<basic_auth_config>& basic_auth_fields() {
    static const fields<basic_auth_config> table{
        {"username", in<&basic_auth_config::username>{}, user_names_of_stores(), "The gate's name at the store."},
        {"passwordFile", in<&basic_auth_config::password_file>{}, paths(), "File with the password in one line."},
    };
    return table;
}

value_type<store_backend> store_url() {
    return scalar_type<store_backend>(
        described("URL", "`http[s]://host[:port]/path[?query]`", R"("type":"string","pattern":"^https?://")"),
        [](std::string_view text, store_backend& target) -> std::string {
            if (text == "discard:") return "is no store, and stands alone: as upstream.url";
            return parse_store_url(text, target);
        },
        [](const store_backend& value) { return without_secrets(value.url.reveal()); });
}

const fields<replica_config>& replica_fields() {
    static const auto url = store_url();
    static const auto urls = store_urls();
    constexpr auto store = &replica_config::store;
    static const fields<replica_config> table{
        {"url", url,
         [](const config_node& at, replica_config& to) {
             if (store_backend backend; url.read(at, backend)) to.store.backends.push_back(std::move(backend));
         },
         [](const replica_config& from) {
             return from.store.backends.size() == 1 ? url.show(from.store.backends.front()) : YAML::Node{};
         },
         "Where the store is.", "\"http://other:8428/api/v1/write\""},
        {"urls", urls, [](const config_node& at, replica_config& to) { read_store_urls(at, false, to.store.backends); },
         [](const replica_config& from) {
             return from.store.backends.size() == 1 ? YAML::Node{} : urls.show(from.store.backends);
         },
         "Several equal backends of one store, in place of `url`."},
        {"bestEffort", in<&replica_config::best_effort>{}, flags(),
         "`true`: nobody waits for this store; what it has not taken is counted.", "true"},
        {"tls", in<store, &store_config::tls>{}, store_tls(), "As `upstream.tls`."},
        {"basicAuth", in<store, &store_config::basic_auth>{}, basic_auth(), "As `upstream.basicAuth`."},
        {"bearerTokenFile", in<store, &store_config::bearer_token_file>{}, paths(), "As `upstream.bearerTokenFile`."},
        {"headers", in<store, &store_config::headers>{}, store_headers(), "As `upstream.headers`."},
    };
    return table;
}

}  // namespace

bool are_same(const store_backend& one, const store_backend& other) {
    return one.tls == other.tls && one.port == other.port && one.target == other.target &&
           equal_ignoring_case(one.host, other.host);
}

value_type<std::vector<store_backend>> store_urls() {
    return list_type<std::vector<store_backend>>("list of URLs", store_url(), backends_max, are_same);
}

void read_store_urls(const config_node& at, bool discards, std::vector<store_backend>& target) {
    std::vector<store_backend> read;
    store_urls().read(at, read);
    if (!discards && target.empty())
        target = std::move(read);
    else if (!read.empty())
        at.fail_key("stands beside 'url': one of the two says where the store is");
}

value_type<store_tls_config> store_tls() {
    return map_type<store_tls_config>(tls_fields(), [](const config_node& at, const store_tls_config& tls) {
        if (!tls.cert_file.empty() && tls.key_file.empty()) at.fail_below("keyFile", "is required beside certFile");
        if (tls.cert_file.empty() && !tls.key_file.empty()) at.fail_below("certFile", "is required beside keyFile");
    });
}

value_type<basic_auth_config> basic_auth() {
    return map_type<basic_auth_config>(basic_auth_fields(), [](const config_node& at, const basic_auth_config& basic) {
        if (basic.username.empty() && !basic.password_file.empty())
            at.fail_below("username", "is required beside passwordFile");
        if (!basic.username.empty() && basic.password_file.empty())
            at.fail_below("passwordFile", "is required: the password stands in a file of its own");
    });
}

value_type<std::map<std::string, secret_text, std::less<>>> store_headers() {
    using headers = std::map<std::string, secret_text, std::less<>>;
    const auto read = [](const config_node& at, headers& target) {
        const auto members = at.members();
        if (members.size() > headers_max)
            at.fail("has " + std::to_string(members.size()) + " headers, at most " + std::to_string(headers_max) +
                    " are possible");
        for (const auto& [name, value] : members) {
            const auto same = [&wanted = name](const auto& other) { return equal_ignoring_case(wanted, other.first); };
            const auto first = std::ranges::find_if(target, same);
            if (auto wrong = wrong_with_header(name); !wrong.empty())
                value.fail_key(std::move(wrong));
            else if (first != target.end())
                value.fail_key("is there already, as " + in_quotes(first->first));
            else if (read_scalar(value, wrong_with_header_value))
                target.emplace(name, secret_text{*value.text()});
        }
        return true;
    };
    const auto show = [](const headers& from) {
        YAML::Node map{YAML::NodeType::Map};
        for (const auto& [name, value] : from)
            map.force_insert(name, value == secret_text{} ? std::string{} : std::string{secret_mark});
        return map;
    };
    return {description_of_many(value_form::names, "map of headers", "up to " + std::to_string(headers_max),
                                texts("text", "", nullptr).about),
            read, show};
}

value_type<std::vector<replica_config>> replica_lists() {
    const auto check = [](const config_node& at, const replica_config& read) {
        const bool has_errors = at.report().has_errors(at.key() + ".url") || at.report().has_errors(at.key() + ".urls");
        if (read.store.backends.empty() && !has_errors) at.fail_below("url", "is required, or 'urls'");
    };
    return list_type<std::vector<replica_config>>("list of stores", map_type<replica_config>(replica_fields(), check),
                                                  replicas_max, nullptr);
}

std::string assign_query_url(std::string_view text, std::vector<store_backend>& target) {
    std::vector<store_backend> backends;
    if (text.find('?') != std::string_view::npos)
        return "must not hold a query ('?...'): it is the root of a query API, such as http://127.0.0.1:8428";
    if (!text.empty()) {
        store_backend& made = backends.emplace_back();
        if (const auto wrong = parse_store_url(with_path(text, "/"), made); !wrong.empty())
            return wrong.starts_with("is not ") ? "is not a URL such as http://127.0.0.1:8428" : wrong;
        made.url = secret_text{std::string{text}};
    }
    target = std::move(backends);
    return "";
}

}  // namespace seriesgate
