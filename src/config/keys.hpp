/// The keys of the configuration, each declared once.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "config/value_type.hpp"

namespace seriesgate {

/// One key of the configuration. Its default is what a config has that nobody has touched. The name is dotted; the help
/// is that of --help, too.
struct config_key : field<config> {
    key_effect effect;
    std::string flag{};                ///< what --help calls the value of `--name`; empty: there is no flag
    bool differs_when_absent = false;  ///< a file with its default means something else than one without it
    std::string same_as{};             ///< a key before it that sets the same: a change is told as that one's
};

/// Every key there is, in the order of config/seriesgate.yaml, which is also the order in which they are read. A new
/// key is an entry there; then write the files that are made of it anew: see print_reference.
std::span<const config_key> config_keys();

/// An example of a section, a list, a map or a part of one, in one line of YAML: `server: {threads: 4}`.
/// @param key as errors call it, such as `limits[2].overrides[0].group`. @return empty if there is none for it.
std::string example_of(std::string_view key);

/// A file that is made of the keys: `markdown` is the table in docs/configuration.md, `yaml` is config/seriesgate.yaml,
/// `json-schema` is docs/seriesgate.schema.json. @return empty for another form.
std::string print_reference(std::string_view form);

/// The types of keys that are lists and maps, each with a grammar of its own: limit_keys.cpp, upstream_keys.cpp.
value_type<std::vector<label_limit>> limit_lists();
value_type<tenant_limits> tenant_overrides();
const fields<label_limit>& limit_fields();
/// Maxima as a file has them, and those of a tenant with what its senders are told, if it says.
YAML::Node show_maxima(const series_maxima& maxima);
YAML::Node show_tenant(const tenant_limits& of, const std::string& tenant, const series_maxima& maxima);

value_type<std::vector<store_backend>> store_urls();
/// Reads `urls` unless `url` has said where the store is: then it is an error.
/// @param discards `url` has said that there is none.
void read_store_urls(const config_node& at, bool discards, std::vector<store_backend>& target);
value_type<store_tls_config> store_tls();
value_type<basic_auth_config> basic_auth();
value_type<std::map<std::string, secret_text, std::less<>>> store_headers();
value_type<std::vector<replica_config>> replica_lists();
/// Whether a request to one backend would be the same as to the other.
bool are_same(const store_backend& one, const store_backend& other);
/// `warmStart.url`: the root of a query API; empty for none.
std::string assign_query_url(std::string_view text, std::vector<store_backend>& target);

}  // namespace seriesgate
