#include "config/load_web.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <optional>
#include <span>

#include "config/config_file.hpp"
#include "config/decimals.hpp"
#include "config/known_keys.hpp"
#include "config/rule_values.hpp"
#include "config/scalars.hpp"
#include "config/units.hpp"
#include "config/web_checks.hpp"
#include "config/web_tls_keys.hpp"
#include "config/wording.hpp"
#include "core/text.hpp"

namespace seriesgate {
namespace {

constexpr std::size_t users_max = 10'000;
constexpr std::size_t paths_max = 64;
constexpr std::size_t user_name_bytes_max = 256;
constexpr std::size_t tenant_bytes_max = 1024;
/// 2^16 rounds are four to eight seconds of a processor for each password that is tried.
constexpr int bcrypt_cost_max = 16;

/// The file as it is read.
struct web_draft {
    std::filesystem::path folder;
    std::optional<bad_tokens> tokens;  ///< nothing: their files are not read
    web_config made{};
    std::vector<std::string> refused{};
};

bool has_control_character(std::string_view text) {
    return std::ranges::any_of(text, [](unsigned char c) { return c < ' ' || c == 0x7f; });
}

// A name of basic authentication ends at the colon.
std::string assign_user(std::string_view text, std::string& target) {
    if (text.empty()) return "is empty, expected the name of a user";
    if (text.size() > user_name_bytes_max)
        return "is too long, at most " + std::to_string(user_name_bytes_max) + " bytes";
    if (text.find(':') != std::string_view::npos) return in_quotes(text) + " has a colon: no user can be called that";
    if (has_control_character(text) || !is_utf8(text)) return in_quotes(text) + " is not readable text";
    target = text;
    return "";
}

// What is wrong is told without a word of the text: it may be the password itself.
std::string assign_bcrypt_hash(std::string_view text, secret_text& target) {
    constexpr std::string_view alphabet = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    constexpr std::string_view kinds = "aby";
    constexpr std::size_t hash_bytes = 60;  // $2y$10$, 22 characters of salt, 31 of hash
    const bool shaped = text.size() == hash_bytes && text.starts_with("$2") &&
                        kinds.find(text[2]) != std::string_view::npos && text[3] == '$' && text[6] == '$' &&
                        is_digits(text.substr(4, 2)) && text.find_first_not_of(alphabet, 7) == std::string_view::npos;
    if (!shaped) return "is not a bcrypt hash, as 'htpasswd -nBC 10 NAME' makes: $2y$10$ and 53 characters";
    const int cost = (text[4] - '0') * 10 + (text[5] - '0');
    if (cost < 4) return "is not a bcrypt hash: its cost is below 4";
    if (cost > bcrypt_cost_max)
        return "has a cost of " + std::to_string(cost) + ", which takes seconds for each password: at most " +
               std::to_string(bcrypt_cost_max);
    target = secret_text{text};
    return "";
}

// Of the two that may hold what is not to be seen: `alice hunter2` is one value and not keys and values.
bool is_map(const placed_value& at, std::string_view expected) {
    if (at.value().kind == yaml_kind::map) return true;
    if (at.value().kind != yaml_kind::nothing) at.fail_key("expected " + std::string{expected} + " below it");
    return false;
}

void read_basic_auth_users(const placed_value& at, web_draft& to) {
    if (!is_map(at, "names with bcrypt hashes")) return;
    for (const auto& [name, value] : at.members()) {
        std::string user;
        if (std::string wrong = assign_user(name, user); !wrong.empty()) {
            value.fail_key(std::move(wrong));
        } else if (value.value().kind != yaml_kind::text) {
            value.fail_key("has no bcrypt hash");
        } else if (to.made.basic_auth_users.size() == users_max) {
            return value.fail_key("is one too many, at most " + std::to_string(users_max));
        } else {
            secret_text& hash = to.made.basic_auth_users[user];
            read_scalar(value, [&](std::string_view text) { return assign_bcrypt_hash(text, hash); });
        }
    }
}

struct token_draft {
    web_draft& of;
    bearer_token made;
};

constexpr std::size_t token_bytes_max = 4096;

/// A token as it stands in its file, which may end a line.
/// @return what is wrong, without a word of it.
std::string assign_token(std::string_view token, secret_text& target) {
    while (!token.empty() && (token.back() == '\n' || token.back() == '\r')) token.remove_suffix(1);
    if (token.empty()) return "names an empty file";
    if (token.size() > token_bytes_max)
        return "names a file with more than " + std::to_string(token_bytes_max) + " bytes";
    if (std::ranges::any_of(token, [](unsigned char c) { return c <= ' ' || c >= 0x7f; }))
        return "names a file that holds no token: a token has no spaces, and nothing but ASCII";
    target = secret_text{token};
    return "";
}

// What cannot be read for another reason than that it is gone may be good.
std::string read_token(const std::string& path, token_draft& to) {
    const auto text = read_lasting_file(path);
    if (!text && !text.error().is_gone) return text.error().message;
    std::string wrong = text ? assign_token(*text, to.made.token) : text.error().message;
    if (wrong.empty() || to.of.tokens != bad_tokens::are_refused) return wrong;
    to.of.refused.push_back("token_file " + printable(path, std::string_view::npos) + " " + wrong);
    return "";
}

void read_token_name(const placed_value& at, token_draft& to) {
    read_scalar(at, [&](std::string_view text) { return assign_user(text, to.made.name); });
}

void read_token_file(const placed_value& at, token_draft& to) {
    read_scalar(at, [&](std::string_view text) -> std::string {
        if (text.empty()) return "is empty, expected a path";
        std::string path;
        if (std::string wrong = assign_path(text, path); !wrong.empty()) return wrong;
        to.made.token_file = (to.of.folder / path).string();
        return to.of.tokens ? read_token(to.made.token_file, to) : "";
    });
}

void refuse_token(const placed_value& at, token_draft&) {
    at.fail_key("is not offered: write the token to a file of its own, and its path as 'token_file'");
}

constexpr std::array<field<token_draft>, 3> token_fields{{
    {"token", refuse_token},
    {"name", read_token_name, presence::required},
    {"token_file", read_token_file, presence::required},
}};

void read_bearer_tokens(const placed_value& at, web_draft& to) {
    if (at.value().kind == yaml_kind::text) return at.fail_key("expected a list of name and token_file");
    for (const placed_value& item : read_items(at, users_max)) {
        if (!is_map(item, "name and token_file")) continue;
        token_draft draft{.of = to, .made = {}};
        read_fields(item, token_fields, draft);
        to.made.bearer_tokens.push_back(std::move(draft.made));
    }
}

// No key, or nothing behind it: everyone. An empty list: nobody.
void read_names(const placed_value& at, std::optional<user_names>& target) {
    if (at.value().kind == yaml_kind::nothing) return;
    user_names& names = target.emplace();
    for (const placed_value& item : read_items(at, users_max))
        read_scalar(item, [&](std::string_view text) {
            std::string name;
            std::string wrong = assign_user(text, name);
            if (wrong.empty()) names.insert(std::move(name));
            return wrong;
        });
}

void read_ingestion_users(const placed_value& at, web_draft& to) {
    read_names(at, to.made.ingestion_users);
}

void read_admin_users(const placed_value& at, web_draft& to) {
    read_names(at, to.made.admin_users);
}

// As it goes into a header.
std::string assign_tenant(std::string_view text, std::string& target) {
    if (text.empty()) return "is empty, expected a tenant";
    if (text.size() > tenant_bytes_max) return "is too long, at most " + std::to_string(tenant_bytes_max) + " bytes";
    if (has_control_character(text) || text.front() == ' ' || text.back() == ' ')
        return in_quotes(text) + " cannot stand in a header";
    target = text;
    return "";
}

void read_tenants(const placed_value& at, web_draft& to) {
    for (const auto& [name, value] : at.members()) {
        std::string user;
        if (std::string wrong = assign_user(name, user); !wrong.empty())
            value.fail_key(std::move(wrong));
        else
            read_scalar(value, [&](std::string_view text) { return assign_tenant(text, to.made.tenants[user]); });
    }
}

void read_excluded_paths(const placed_value& at, web_draft& to) {
    for (const placed_value& item : read_items(at, paths_max))
        read_scalar(item, [&](std::string_view text) -> std::string {
            if (!text.starts_with('/') || text.find_first_of("?#*") != std::string_view::npos)
                return in_quotes(text) + " is not a path, such as /-/healthy";
            to.made.auth_excluded_paths.emplace(text);
            return "";
        });
}

template <std::size_t count>
std::string one_of(std::string_view text, const std::array<std::string_view, count>& allowed) {
    if (std::ranges::count(allowed, in_lower_case(text)) != 0) return "";
    std::string all;
    for (const std::string_view each : allowed) all.append(all.empty() ? "" : " or ").append(each);
    return in_quotes(text) + " is not " + all;
}

std::string wrong_header(std::string_view name, std::string_view value) {
    constexpr std::array<std::string_view, 2> frame_options{"deny", "sameorigin"};
    constexpr std::array<std::string_view, 1> type_options{"nosniff"};
    if (has_control_character(value)) return in_quotes(value) + " cannot stand in a header";
    if (name == "X-Frame-Options") return one_of(value, frame_options);
    if (name == "X-Content-Type-Options") return one_of(value, type_options);
    return "";
}

struct headers_draft {
    std::vector<std::pair<std::string, std::string>> made;
};

template <const auto& name>
void read_header(const placed_value& at, headers_draft& to) {
    read_scalar(at, [&](std::string_view text) -> std::string {
        if (text.empty()) return "";  // as if it were not there
        std::string wrong = wrong_header(name, text);
        if (wrong.empty()) to.made.emplace_back(name, text);
        return wrong;
    });
}

constexpr std::string_view transport_security = "Strict-Transport-Security";
constexpr std::string_view frame_options = "X-Frame-Options";
constexpr std::string_view type_options = "X-Content-Type-Options";
constexpr std::string_view xss_protection = "X-XSS-Protection";
constexpr std::string_view security_policy = "Content-Security-Policy";

constexpr std::array<field<headers_draft>, 5> header_fields{{
    {transport_security, read_header<transport_security>},
    {frame_options, read_header<frame_options>},
    {type_options, read_header<type_options>},
    {xss_protection, read_header<xss_protection>},
    {security_policy, read_header<security_policy>},
}};

void read_headers(const placed_value& at, web_draft& to) {
    headers_draft draft;
    read_fields(at, header_fields, draft);
    to.made.answer_headers = std::move(draft.made);
}

// HTTP/2 is not spoken, whatever it says; Prometheus' default is true.
void read_http2(const placed_value& at, web_draft&) {
    bool ignored = false;
    read_flag(at, ignored);
}

constexpr std::array<field<web_draft>, 2> http_fields{{{"http2", read_http2}, {"headers", read_headers}}};

void read_http_server(const placed_value& at, web_draft& to) {
    read_fields(at, http_fields, to);
}

void read_tls_server(const placed_value& at, web_draft& to) {
    if (at.value().kind == yaml_kind::nothing) return;
    read_web_tls(at, to.folder, to.made.tls.emplace());
}

void refuse_rate_limit(const placed_value& at, web_draft&) {
    at.fail_key(
        "is not offered: a sender that is told to wait holds back more; server.maxConnections, "
        "server.maxConnectionsPerPeer and server.maxInflightBytes are the bounds here");
}

constexpr std::array<field<web_draft>, 9> fields{{
    {"tls_server_config", read_tls_server},
    {"http_server_config", read_http_server},
    {"basic_auth_users", read_basic_auth_users},
    {"bearer_tokens", read_bearer_tokens},
    {"ingestion_users", read_ingestion_users},
    {"admin_users", read_admin_users},
    {"tenants", read_tenants},
    {"auth_excluded_paths", read_excluded_paths},
    {"rate_limit", refuse_rate_limit},
}};

void read_text(std::string_view text, web_draft& draft, error_report& report) {
    if (text.size() > config_file_bytes_max)
        return report.add(0, "", "is larger than " + format_size(config_file_bytes_max));
    const yaml_tree yaml = read_yaml(text);
    for (const yaml_fault& fault : yaml.faults) report.add(fault.line, "", printable(fault.message, 200));
    // Who writes a file begins with an empty one, and a gate that starts then must not be open to all.
    if (yaml.faults.empty() && yaml.root.kind == yaml_kind::nothing)
        return report.add(0, "", "is empty: {} would say that nothing is asked of anyone");
    read_fields(placed_value{yaml.root, report, "", 0}, fields, draft);
    report.sort_by_line();
    if (!report.has_errors()) check_web_users(report, draft.made);
}

web_outcome load_text(std::string_view text, const std::string& name, std::optional<bad_tokens> tokens) {
    error_report report{printable(name, std::string_view::npos)};
    web_draft draft{.folder = std::filesystem::path{name}.parent_path(), .tokens = tokens};
    read_text(text, draft, report);
    return {std::move(draft.made), report.take_errors(), std::move(draft.refused)};
}

}  // namespace

web_outcome load_web_config_text(std::string_view text, const std::string& name) {
    return load_text(text, name, std::nullopt);
}

web_outcome load_web_config(const std::string& file, bad_tokens bad) {
    const auto text = read_lasting_file(file);
    if (text) return load_text(*text, file, bad);
    error_report report{printable(file, std::string_view::npos)};
    report.add(0, "", text.error().message);
    return {{}, report.take_errors(), {}};
}

}  // namespace seriesgate
