#include "config/load.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <initializer_list>
#include <iterator>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "config/config_file.hpp"
#include "config/doubts.hpp"
#include "config/endpoint.hpp"
#include "config/keys.hpp"
#include "config/known_keys.hpp"
#include "config/load_web.hpp"
#include "config/own_address.hpp"
#include "config/secret_files.hpp"
#include "config/shared_checks.hpp"
#include "config/store_checks.hpp"
#include "config/units.hpp"
#include "config/wording.hpp"

namespace seriesgate {
namespace {

constexpr std::string_view body_key = "server.maxRequestBytes";
constexpr std::string_view decoded_key = "server.maxDecodedBytes";
constexpr std::string_view inflight_key = "server.maxInflightBytes";

const config_key* find_key(std::string_view name) noexcept {
    const auto found = std::ranges::find(config_keys(), name, &config_key::name);
    return found == config_keys().end() ? nullptr : &*found;
}

// Where the good value of a key came from, so that more can be told of it: a line, or else a flag.
struct origin {
    std::size_t line;
    std::string flag;
    bool is_from_variable;
};

std::string which_is(const std::string& size) {
    return size.empty() ? "" : ", which is " + size;
}

// One load: the configuration as it grows, and where everything in it came from.
class loader {
  public:
    explicit loader(std::string_view file) : report_(printable(file, std::string_view::npos)) {}

    void read_text(std::string_view text, const environment& variables);
    void read_flags(const overrides& flags);
    void check();
    void fail_file(std::string message);
    load_outcome take() { return {std::move(value_), report_.take_errors(), report_.take_warnings()}; }

  private:
    void read_key(const config_key& key, const known_key& found);
    void check_upstream();
    void check_own_address(const own_listener& ours);
    void check_listeners();
    [[nodiscard]] bool has_backends() const;
    void check_shared();
    void check_marker();
    void check_sizes();
    void tell_request_too_large(const server_config& server);
    void doubt();
    void doubt_reject_status();
    void doubt_maxima(std::string_view hourly_key, std::string_view daily_key, const series_maxima& maxima);

    void tell(const key_remark& remark, severity as);
    using places = std::initializer_list<std::pair<std::string_view, std::string>>;
    void tell_at_first(places where, severity as = severity::error);
    [[nodiscard]] std::string shown(std::initializer_list<std::string_view> keys, std::uint64_t bytes) const;

    error_report report_;
    yaml_value root_;                                 // of the file, which what follows points into
    std::map<std::string_view, origin> set_;          // keys of one value that have been given a good one
    std::map<std::string_view, placed_value> given_;  // keys of lists and maps
    std::set<std::string_view> bad_;                  // keys that have been given a bad one
    std::size_t upstream_line_ = 0;                   // of the section
    bool file_is_whole_ = true;                       // no part of it is unreadable, so what is absent is absent
    config value_;
};

void loader::fail_file(std::string message) {
    file_is_whole_ = false;
    report_.add(0, "", std::move(message));
}

void loader::read_text(std::string_view text, const environment& variables) {
    if (text.size() > config_file_bytes_max) return fail_file("is larger than " + format_size(config_file_bytes_max));
    yaml_tree yaml = read_yaml(text);
    root_ = std::move(yaml.root);
    for (const yaml_fault& fault : yaml.faults) {
        file_is_whole_ = false;
        report_.add(fault.line, "", printable(fault.message, 200));
    }
    fill_variables(root_, variables, report_);
    std::vector<std::string_view> names;
    for (const config_key& key : config_keys()) names.push_back(key.name);
    const known_keys known = match_keys({root_, report_, "", 0}, names);
    for (std::size_t i = 0; i < names.size(); ++i) read_key(config_keys()[i], known.keys[i]);
    if (const auto section = known.lines.find("upstream"); section != known.lines.end()) {
        upstream_line_ = section->second;
    }
    report_.sort_by_line();
}

// Where an empty text is taken for none, as that of a path, a start without the variable's value would go unnoticed.
void doubt_empty(const placed_value& at) {
    const yaml_value& value = at.value();
    if (value.text.empty() && !value.variables.empty())
        at.warn("the environment variable " + in_quotes(value.variables.front()) +
                " is empty, and so is this value: that is as if the key were left out");
}

void loader::read_key(const config_key& key, const known_key& found) {
    assert((key.access.read == nullptr) != (key.access.assign == nullptr));
    if (found.faulty) bad_.insert(key.name);
    if (!found.value) return;
    if (key.access.read != nullptr) {
        given_.emplace(key.name, *found.value);
        const std::size_t errors = report_.error_count();
        key.access.read(*found.value, value_);
        if (report_.error_count() != errors) bad_.insert(key.name);
        return;
    }
    if (read_scalar(*found.value, [&](std::string_view text) { return key.access.assign(text, value_); })) {
        set_[key.name] = {found.value->line(), "", !found.value->value().variables.empty()};
        doubt_empty(*found.value);
    } else {
        bad_.insert(key.name);
    }
}

void loader::read_flags(const overrides& flags) {
    for (const override_value& flag : flags) {
        const std::string shown = "--" + printable(flag.key, 80);
        const config_key* key = find_key(flag.key);
        const bool known = key != nullptr && key->access.assign != nullptr;
        std::string wrong = known ? key->access.assign(flag.value, value_) : "unknown flag";
        if (wrong.empty()) {
            set_[key->name] = {0, shown, false};
        } else {
            if (known) bad_.insert(key->name);
            report_.add({shown, "", std::move(wrong)});
        }
    }
}

void loader::check() {
    check_upstream();
    check_listeners();
    check_sizes();
    check_shared();
    check_marker();
    if (!report_.has_errors()) doubt();
}

void loader::check_upstream() {
    if (!bad_.contains("listen")) check_own_address({"listen", value_.listen});
    if (!bad_.contains("admin.listen") && value_.admin.listen)
        check_own_address({"admin.listen", *value_.admin.listen});
    if (const auto replicas = given_.find("upstream.replicateTo"); replicas != given_.end())
        check_replicas_differ(replicas->second, value_.upstream);
    if (has_backends() || bad_.contains("upstream.url") || !file_is_whole_) return;
    report_.add(upstream_line_, "upstream.url",
                "is required, in the file or as --upstream.url=URL: http://host:port/path, or discard: to only count");
}

// Well or not.
bool loader::has_backends() const {
    if (set_.contains("upstream.url")) return true;
    const auto urls = given_.find("upstream.urls");
    if (urls == given_.end()) return false;
    const yaml_value& value = urls->second.value();
    return value.kind != yaml_kind::nothing && (value.kind != yaml_kind::list || !value.items.empty());
}

void loader::check_own_address(const own_listener& ours) {
    const upstream_config& upstream = value_.upstream;
    if (set_.contains("upstream.url") && !upstream.discard) {
        const own_address found = find_own_address(ours.where, upstream.store.backends.front());
        if (found != own_address::no)
            tell_at_first({{"upstream.url", in_words(found, ours.key)}},
                          found == own_address::yes ? severity::error : severity::warning);
    } else if (const auto urls = given_.find("upstream.urls"); urls != given_.end()) {
        check_own_backends(urls->second, upstream.store, ours);
    }
    if (const auto replicas = given_.find("upstream.replicateTo"); replicas != given_.end())
        check_own_replicas(replicas->second, upstream, ours);
}

// Two that are the same would be found out only when the second is to be opened.
void loader::check_listeners() {
    if (bad_.contains("listen") || value_.admin.listen != value_.listen) return;
    if (value_.listen.port == 0 && value_.listen.unix_path.empty()) return;  // any two free ones
    tell_at_first({{"admin.listen", "is the address of 'listen': leave it out to have all on one"},
                   {"listen", "is the address of 'admin.listen'"}});
}

// A limit of all tenants has no tenant whose path its markers could be written to.
void loader::check_marker() {
    const auto names_tenant = [](const store_backend& each) { return has_tenant_mark(each); };
    const auto is_for_one = [&](const store_config& store) {
        return std::ranges::any_of(store.backends, names_tenant);
    };
    if (value_.marker && (is_for_one(value_.upstream.store) ||
                          std::ranges::any_of(value_.upstream.replicas, is_for_one, &replica_config::store)))
        tell_at_first({{"marker", "is not possible with {tenant} or {account} in the URL of a store"}});
}

// What is missing has not been told if it is there in a wrong way.
void loader::check_shared() {
    const auto is_of_it = [](std::string_view key) {
        return key.starts_with("shared.") || key == "fingerprint.secretFile";
    };
    if (!file_is_whole_ || std::ranges::any_of(bad_, is_of_it)) return;
    for (const key_remark& each : wrong_with_shared(value_)) tell(each, severity::error);
}

// Sizes that are good each by itself but not together. Told at a key that the user wrote: the defaults are in order.
void loader::check_sizes() {
    for (const auto key : {body_key, decoded_key, inflight_key}) {
        if (bad_.contains(key)) return;
    }
    const server_config& server = value_.server;
    if (server.body_bytes_max > server.decoded_bytes_max) {
        const std::string body = which_is(shown({body_key}, server.body_bytes_max));
        const std::string decoded = which_is(shown({decoded_key}, server.decoded_bytes_max));
        tell_at_first({{decoded_key, "must be at least server.maxRequestBytes" + body},
                       {body_key, "must be at most server.maxDecodedBytes" + decoded}});
    } else if (server.body_bytes_max + server.decoded_bytes_max > server.inflight_bytes_max) {
        tell_request_too_large(server);
    }
}

// A request within its own bounds has to fit, or its sender is told "503, come again" for ever.
void loader::tell_request_too_large(const server_config& server) {
    const std::string why = "a large request is told to come again for ever";
    const std::string bytes = shown({body_key, decoded_key}, server.body_bytes_max + server.decoded_bytes_max);
    const std::string inflight = which_is(shown({inflight_key}, server.inflight_bytes_max));
    const std::string makes = bytes.empty() ? " makes" : " makes " + bytes + ",";
    const std::string more = makes + " more than server.maxInflightBytes" + inflight + "; " + why;
    tell_at_first({{inflight_key, "must be at least server.maxRequestBytes plus server.maxDecodedBytes" +
                                      which_is(bytes) + ", or " + why},
                   {decoded_key, "with server.maxRequestBytes" + more},
                   {body_key, "with server.maxDecodedBytes" + more}});
}

// Empty if it came from a variable, and is not to be repeated.
std::string loader::shown(std::initializer_list<std::string_view> keys, std::uint64_t bytes) const {
    const bool is_from_variable = std::ranges::any_of(keys, [this](std::string_view key) {
        const auto from = set_.find(key);
        return from != set_.end() && from->second.is_from_variable;
    });
    return is_from_variable ? "" : format_size(bytes);
}

void loader::doubt() {
    const limit_rules& rules = value_.rules;
    doubt_maxima("maxHourlySeries", "maxDailySeries", rules.global);
    doubt_maxima("tenants.default.maxHourlySeries", "tenants.default.maxDailySeries", rules.tenants.fallback);
    constexpr std::array<std::pair<std::string_view, void (*)(const placed_value&, const config&)>, 6> doubts{
        {{"upstream.tls", doubt_store_tls},
         {"upstream.replicateTo", doubt_replicas},
         {"ignoreLabels", doubt_ignore_labels},
         {"tenants.overrides", doubt_tenant_overrides},
         {"limits", doubt_limits},
         {"exempt", doubt_exempt}}};
    for (const auto& [key, doubt_value] : doubts)
        if (const auto at = given_.find(key); at != given_.end()) doubt_value(at->second, value_);
    if (value_.marker && value_.upstream.discard)
        tell_at_first({{"marker", "is not used: with 'discard:' nothing is forwarded"}}, severity::warning);
    if (!set_.contains("rejectStatus")) doubt_reject_status();
    const auto is_of_one_account = [](const store_backend& each) {
        return each.target.reveal().starts_with("/insert/") && !has_tenant_mark(each);
    };
    if (!value_.tenant_path.empty() && std::ranges::any_of(value_.upstream.store.backends, is_of_one_account))
        tell_at_first({{"tenants.path",
                        "names tenants, and upstream.url has one of its own for all of them: write "
                        "{account} in its place"}},
                      severity::warning);
    for (const key_remark& each : doubtful_in_shared(value_)) tell(each, severity::warning);
    report_.sort_by_line();
}

void loader::doubt_maxima(std::string_view hourly_key, std::string_view daily_key, const series_maxima& maxima) {
    if (const std::string wrong = doubt_of_daily(maxima); !wrong.empty())
        tell_at_first({{daily_key, wrong}}, severity::warning);
    const series_maxima& global = value_.rules.global;
    if (const std::string wrong = doubt_of_reach(maxima.hourly, global.hourly, "maxHourlySeries"); !wrong.empty())
        tell_at_first({{hourly_key, wrong}}, severity::warning);
    if (const std::string wrong = doubt_of_reach(maxima.daily, global.daily, "maxDailySeries"); !wrong.empty())
        tell_at_first({{daily_key, wrong}}, severity::warning);
}

// At what asks for the answer. Who has chosen 400 knows the senders.
void loader::doubt_reject_status() {
    const auto rejects = [](const auto& answer) { return answer == limit_answer::reject; };
    const limit_rules& rules = value_.rules;
    const std::string why =
        "is told with 400 as long as rejectStatus is not set: a vmagent that gets it sends that request again, and "
        "then "
        "snappy in place of zstd until its restart; 409 does neither";
    if (rejects(rules.tenants.answer)) return tell({{"tenants.onLimit", "onLimit"}, why}, severity::warning);
    if (std::ranges::any_of(rules.limits, rejects, &label_limit::answer))
        return tell({{"limits"}, why}, severity::warning);
    const auto& answers = rules.tenants.answers;
    if (std::ranges::any_of(answers, [&](const auto& each) { return rejects(each.second); }))
        tell({{"tenants.overrides"}, why}, severity::warning);
}

void loader::tell(const key_remark& remark, severity as) {
    for (const std::string_view key : remark.keys) {
        if (set_.contains(key)) return tell_at_first({{key, remark.message}}, as);
        if (const auto at = given_.find(key); at != given_.end())
            return as == severity::error ? at->second.fail_key(remark.message) : at->second.warn(remark.message);
    }
}

// Of several places where one thing could be told, the first that the user wrote.
void loader::tell_at_first(places where, severity as) {
    for (const auto& [key, message] : where) {
        const auto from = set_.find(key);
        if (from == set_.end()) continue;
        const auto& [line, flag, ignored] = from->second;
        if (flag.empty() && as == severity::error) return report_.add(line, std::string{key}, message);
        if (flag.empty()) return report_.warn(line, std::string{key}, message);
        return as == severity::error ? report_.add({flag, "", message}) : report_.warn({flag, "", message});
    }
}

load_outcome load_main_file(const std::optional<std::string>& file, const overrides& flags) {
    if (!file) return load_config_text("", "", flags);
    std::error_code error;
    if (const auto text = read_config_file(*file, error)) return load_config_text(*text, *file, flags);
    loader load{*file};
    load.fail_file("cannot be read: " + error.message());
    load.read_flags(flags);
    load.check();
    return load.take();
}

void add_web_config(load_outcome& to) {
    if (to.value.web_config_file.empty()) return;
    web_outcome web = load_web_config(to.value.web_config_file);
    to.value.web = std::move(web.value);
    std::ranges::move(web.errors, std::back_inserter(to.errors));
}

}  // namespace

load_outcome load_config(const std::optional<std::string>& file, const overrides& flags) {
    load_outcome loaded = load_main_file(file, flags);
    add_web_config(loaded);
    if (loaded.ok())
        std::ranges::move(doubtful_secret_files(loaded.value, file.value_or("")), std::back_inserter(loaded.warnings));
    return loaded;
}

load_outcome load_config_text(std::string_view text, std::string_view name, const overrides& flags,
                              const environment& variables) {
    loader load{name};
    load.read_text(text, variables);
    load.read_flags(flags);
    load.check();
    return load.take();
}

}  // namespace seriesgate
