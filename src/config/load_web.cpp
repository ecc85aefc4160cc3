#include "config/load.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "config/scalars.hpp"
#include "core/text.hpp"

namespace seriesgate {
namespace {

constexpr std::size_t users_max = 10'000;
constexpr std::size_t paths_max = 64;
constexpr std::size_t names_max = 1000;
constexpr std::size_t user_name_bytes_max = 256;
constexpr std::size_t tenant_bytes_max = 1024;
constexpr std::size_t token_bytes_max = 4096;
/// 2^16 rounds are four to eight seconds of a processor for each password that is tried.
constexpr int bcrypt_cost_max = 16;

/// Source: Go's crypto/tls, CipherSuites(): those that are not insecure.
const std::vector<std::string> cipher_suites{
    "TLS_AES_128_GCM_SHA256",
    "TLS_AES_256_GCM_SHA384",
    "TLS_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
};
const std::vector<std::string> curve_names{"CurveP256", "CurveP384", "CurveP521", "X25519"};

/// The file as it is read.
struct web_draft {
    std::filesystem::path folder;
    std::optional<bad_tokens> tokens;  ///< nothing: their files are not read
    web_config made{};
    std::vector<std::string> refused{};
};

template <typename Value>
auto into(const value_type<Value>& type, Value& target) {
    return [type, &target](const config_node& at) { type.read(at, target); };
}

auto refuse(std::string why) {
    return [why = "is not offered: " + why](const config_node& at) { at.fail_key(why); };
}

/// A name of basic authentication ends at the colon.
std::string wrong_with_user(std::string_view text) {
    if (text.empty()) return "is empty, expected the name of a user";
    if (text.size() > user_name_bytes_max)
        return "is too long, at most " + std::to_string(user_name_bytes_max) + " bytes";
    if (text.find(':') != std::string_view::npos) return in_quotes(text) + " has a colon: no user can be called that";
    return has_control_character(text) || !is_utf8(text) ? in_quotes(text) + " is not readable text" : "";
}

value_type<std::string> users() {
    return texts("user", "", wrong_with_user);
}

/// Relative paths begin where the file stands.
value_type<std::string> files(const std::filesystem::path& folder) {
    return texts_by("path", "", [folder](std::string_view text, std::string& target) -> std::string {
        if (text.empty()) return "is empty, expected a path";
        if (text.find('\0') != std::string_view::npos) return in_quotes(text) + " is not a path";
        target = (folder / text).string();
        return "";
    });
}

/// Names of a list each of which has to be known.
value_type<std::string> known_names(const std::vector<std::string>& among) {
    return texts("name", "", [among](std::string_view text) -> std::string {
        if (std::ranges::count(among, text) != 0) return "";
        const auto meant = closest(text, std::vector<std::string_view>{among.begin(), among.end()});
        if (meant.empty()) return in_quotes(text) + none_of(among);
        return in_quotes(text) + " is not known, did you mean " + in_quotes(meant) + "?";
    });
}

/// Of maps and lists that may hold what nobody may see: `alice hunter2` is one value and not keys and values.
bool is_map(const config_node& at, std::string_view expected) {
    if (!at.is_map() && !at.is_null()) at.fail_key("expected " + std::string{expected} + " below it");
    return at.is_map();
}

// --- TLS

void check_tls(const config_node& at, const web_tls_config& made) {
    const auto is_set = [&](std::string_view name) { return at.report().is_set(key_below(at.key(), name)); };
    const bool has_ca = is_set("client_ca_file");
    if (made.verifies_clients() && !has_ca)
        at.fail_below("client_ca_file", "is required: client_auth_type asks for certificates that can be verified");
    if (has_ca && !made.verifies_clients())
        at.fail_below("client_ca_file",
                      "would verify nobody: client_auth_type has to be RequireAndVerifyClientCert (or "
                      "VerifyClientCertIfGiven)");
    const bool required = made.client_auth == client_certificates::require_any ||
                          made.client_auth == client_certificates::require_and_verify;
    if (is_set("client_allowed_sans") && !required)
        at.fail_below("client_allowed_sans", "needs client_auth_type to be RequireAndVerifyClientCert");
    if (is_set("client_allowed_sans") && required && made.client_allowed_sans.empty())
        at.fail_below("client_allowed_sans", "is empty: no client would have one of the names");
}

void read_tls_version(const config_node& at, tls_version& target) {
    static const auto versions =
        one_of<tls_version>("version", {{"TLS12", tls_version::v1_2}, {"TLS13", tls_version::v1_3}});
    if (const auto text = at.text(); text == "TLS10" || text == "TLS11")
        return at.fail(in_quotes(*text) + " is not offered: nothing older than TLS12 is safe");
    versions.read(at, target);
}

void read_tls(const config_node& at, const std::filesystem::path& folder, web_tls_config& made) {
    static const auto client_auth_types = one_of<client_certificates>(
        "type", {{"NoClientCert", client_certificates::none},
                 {"RequestClientCert", client_certificates::request},
                 {"RequireAnyClientCert", client_certificates::require_any},
                 {"RequireClientCert", client_certificates::require_any},  // as it was called once
                 {"VerifyClientCertIfGiven", client_certificates::verify_if_given},
                 {"RequireAndVerifyClientCert", client_certificates::require_and_verify}});
    static const auto sans = texts("name", "", [](std::string_view text) -> std::string {
        return text.empty() ? "is empty, expected a name, an address or a URI" : "";
    });
    using names = std::vector<std::string>;
    // Keys and certificates within the file: it would have to be as secret as they are, and written anew with them.
    const auto refuse_text = [](const std::string& key) {
        return refuse("write the PEM text to a file of its own, and its path as " + in_quotes(key + "_file"));
    };
    read_map(
        at,
        {
            {"cert", refuse_text("cert")},
            {"key", refuse_text("key")},
            {"client_ca", refuse_text("client_ca")},
            {"cert_file", into(files(folder), made.cert_file), true},
            {"key_file", into(files(folder), made.key_file), true},
            {"client_auth_type", into(client_auth_types, made.client_auth)},
            {"client_ca_file", into(files(folder), made.client_ca_file)},
            {"client_allowed_sans", into(list_type<names>("list", sans, names_max, nullptr), made.client_allowed_sans)},
            {"min_version", [&](const config_node& value) { read_tls_version(value, made.version_min); }},
            {"max_version",
             [&](const config_node& value) {
                 read_tls_version(value, made.version_max);
                 if (made.version_max < made.version_min) value.fail("is below min_version");
             }},
            {"cipher_suites",
             into(list_type<names>("list", known_names(cipher_suites), names_max, nullptr), made.cipher_suites)},
            {"prefer_server_cipher_suites", into(flags(), made.server_preference)},
            {"curve_preferences",
             into(list_type<names>("list", known_names(curve_names), names_max, nullptr), made.curves)},
        });
    if (at.is_map()) check_tls(at, made);
}

// --- users

/// What is wrong is told without a word of the text: it may be the password itself.
std::string assign_bcrypt_hash(std::string_view text, secret_text& target) {
    static const re2::RE2 form{R"([$]2[aby][$]([0-9]{2})[$][./A-Za-z0-9]{53})"};  // 22 of salt, 31 of hash
    int cost = 0;
    if (!re2::RE2::FullMatch({text.data(), text.size()}, form, &cost))
        return "is not a bcrypt hash, as 'htpasswd -nBC 10 NAME' makes: $2y$10$ and 53 characters";
    if (cost < 4) return "is not a bcrypt hash: its cost is below 4";
    if (cost > bcrypt_cost_max)
        return "has a cost of " + std::to_string(cost) + ", which takes seconds for each password: at most " +
               std::to_string(bcrypt_cost_max);
    target = secret_text{text};
    return "";
}

void read_basic_auth_users(const config_node& at, web_draft& to) {
    if (!is_map(at, "names with bcrypt hashes")) return;
    for (const auto& [name, value] : at.members()) {
        if (std::string wrong = wrong_with_user(name); !wrong.empty()) {
            value.fail_key(std::move(wrong));
        } else if (!value.is_scalar()) {
            value.fail_key("has no bcrypt hash");
        } else if (to.made.basic_auth_users.size() == users_max) {
            return value.fail_key("is one too many, at most " + std::to_string(users_max));
        } else {
            secret_text& hash = to.made.basic_auth_users[name];
            read_scalar(value, [&](std::string_view text) { return assign_bcrypt_hash(text, hash); });
        }
    }
}

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

/// A file that cannot be read for another reason than that it is gone may be good.
std::string read_token(const std::string& path, secret_text& target, web_draft& to) {
    const auto text = read_config_file(path, file_kind::regular);
    if (!text && !text.error().is_gone) return text.error().message;
    std::string wrong = text ? assign_token(*text, target) : text.error().message;
    if (wrong.empty() || to.tokens != bad_tokens::are_refused) return wrong;
    to.refused.push_back("token_file " + printable(path, std::string_view::npos) + " " + wrong);
    return "";
}

void read_bearer_tokens(const config_node& at, web_draft& to) {
    if (at.is_scalar()) return at.fail_key("expected a list of name and token_file");
    const auto token_files = files(to.folder);
    for (const config_node& item : at.items(users_max)) {
        if (!is_map(item, "name and token_file")) continue;
        bearer_token made;
        read_map(item, {{"token", refuse("write the token to a file of its own, and its path as 'token_file'")},
                        {"name", into(users(), made.name), true},
                        {"token_file",
                         [&](const config_node& value) {
                             if (!token_files.read(value, made.token_file) || !to.tokens) return;
                             const std::string wrong = read_token(made.token_file, made.token, to);
                             if (!wrong.empty()) value.fail(wrong);
                         },
                         true}});
        to.made.bearer_tokens.push_back(std::move(made));
    }
}

/// No key: everyone. An empty list: nobody. Nothing behind the key is a mistake, since its names may stand behind a #.
auto into_names(std::optional<user_names>& target) {
    return [&target](const config_node& at) {
        if (at.is_null()) return at.fail_key("has no value: [] is nobody, and without the key it is everyone");
        list_type<user_names>("list of users", users(), users_max, nullptr).read(at, target.emplace());
    };
}

/// As it goes into a header.
std::string assign_tenant(std::string_view text, std::string& target) {
    if (text.empty()) return "is empty, expected a tenant";
    if (text.size() > tenant_bytes_max) return "is too long, at most " + std::to_string(tenant_bytes_max) + " bytes";
    if (has_control_character(text) || text.front() == ' ' || text.back() == ' ')
        return in_quotes(text) + " cannot stand in a header";
    target = text;
    return "";
}

void read_tenants(const config_node& at, web_draft& to) {
    if (at.is_null()) return at.fail_key("has no value: {} binds no user");
    for (const auto& [name, value] : at.members()) {
        if (std::string wrong = wrong_with_user(name); !wrong.empty())
            value.fail_key(std::move(wrong));
        else
            read_scalar(value, [&to, &user = name](std::string_view text) {
                return assign_tenant(text, to.made.tenants[user]);
            });
    }
}

value_type<std::string> excluded_paths() {
    return texts("path", "", [](std::string_view text) {
        const bool is_path = text.starts_with('/') && text.find_first_of("?#*") == std::string_view::npos;
        return is_path ? "" : in_quotes(text) + " is not a path, such as /-/healthy";
    });
}

/// VerifyClientCertIfGiven: a sender without a certificate is nobody, and nobody has a tenant.
void check_tenants_bind(config_report& report, const web_config& read) {
    if (read.tls->client_auth == client_certificates::verify_if_given && !read.tenants.empty() && !read.ingestion_users)
        report.add(0, "tenants",
                   "bind nobody: with VerifyClientCertIfGiven a sender without a certificate may name any tenant; "
                   "ingestion_users has to say who may write, or client_auth_type to be RequireAndVerifyClientCert");
}

/// All users there can be stand in the file, unless they are names of certificates.
void check_users(config_report& report, const web_config& read) {
    const bool verifies = read.tls && read.tls->verifies_clients();
    if (verifies && !read.has_users()) return check_tenants_bind(report, read);
    const std::string why = verifies ? "where there are users, the name in a client's certificate is none"
                                     : "no client's certificate is verified";
    const auto check = [&](const std::string& key, const std::string& name) {
        if (!read.basic_auth_users.contains(name) &&
            std::ranges::count(read.bearer_tokens, name, &bearer_token::name) == 0)
            report.add(0, key_below(key, name),
                       "is no user: neither of basic_auth_users nor of bearer_tokens, and " + why);
    };
    for (const auto& [name, tenant] : read.tenants) check("tenants", name);
    for (const std::string& name : read.ingestion_users.value_or(user_names{})) check("ingestion_users", name);
    for (const std::string& name : read.admin_users.value_or(user_names{})) check("admin_users", name);
}

// --- HTTP

std::string one_of_values(std::string_view text, const std::vector<std::string>& allowed) {
    if (allowed.empty() || std::ranges::count(allowed, in_lower_case(text)) != 0) return "";
    std::string all;
    for (const std::string& each : allowed) all += (all.empty() ? "" : " or ") + each;
    return in_quotes(text) + " is not " + all;
}

void read_headers(const config_node& at, web_draft& to) {
    const auto header = [&](const std::string& name, const std::vector<std::string>& allowed = {}) {
        return map_key{name, [&to, name, allowed](const config_node& value) {
                           read_scalar(value, [&](std::string_view text) -> std::string {
                               if (text.empty()) return "";  // as if it were not there
                               std::string wrong = has_control_character(text)
                                                       ? in_quotes(text) + " cannot stand in a header"
                                                       : one_of_values(text, allowed);
                               if (wrong.empty()) to.made.answer_headers.emplace_back(name, text);
                               return wrong;
                           });
                       }};
    };
    read_map(at, {header("Strict-Transport-Security"), header("X-Frame-Options", {"deny", "sameorigin"}),
                  header("X-Content-Type-Options", {"nosniff"}), header("X-XSS-Protection"),
                  header("Content-Security-Policy")});
}

void read_http_server(const config_node& at, web_draft& to) {
    bool ignored = false;  // HTTP/2 is not spoken, whatever it says; Prometheus' default is true
    read_map(at, {{"http2", into(flags(), ignored)},
                  {"headers", [&to](const config_node& value) { read_headers(value, to); }}});
}

void read_web(const config_node& root, web_draft& to) {
    web_config& made = to.made;
    const auto with = [&to](void (*read)(const config_node&, web_draft&)) {
        return [&to, read](const config_node& at) { read(at, to); };
    };
    read_map(root,
             {{"tls_server_config",
               [&to](const config_node& at) {
                   if (!at.is_null()) read_tls(at, to.folder, to.made.tls.emplace());
               }},
              {"http_server_config", with(read_http_server)},
              {"basic_auth_users", with(read_basic_auth_users)},
              {"bearer_tokens", with(read_bearer_tokens)},
              {"ingestion_users", into_names(made.ingestion_users)},
              {"admin_users", into_names(made.admin_users)},
              {"tenants", with(read_tenants)},
              {"auth_excluded_paths", into(list_type<std::set<std::string, std::less<>>>(
                                               "list of paths", excluded_paths(), paths_max, nullptr),
                                           made.auth_excluded_paths)},
              {"rate_limit", refuse("a sender that is told to wait holds back more; server.maxConnections, "
                                    "server.maxConnectionsPerPeer and server.maxInflightBytes are the bounds here")}});
}

web_outcome load_text(std::string_view text, const std::string& name, std::optional<bad_tokens> tokens) {
    config_report report{printable(name, std::string_view::npos)};
    web_draft draft{.folder = std::filesystem::path{name}.parent_path(), .tokens = tokens};
    config_reading reading{.report = report};
    const auto root = read_root(text, report);
    if (root && root->IsNull())  // whoever writes a file begins with an empty one, and that must not open the gate
        report.add(0, "", "is empty: {} would say that nothing is asked of anyone");
    else if (root)
        read_web({*root, reading, "", 0}, draft);
    report.sort_by_line();
    if (!report.has_errors()) check_users(report, draft.made);
    return {std::move(draft.made), report.take_errors(), std::move(draft.refused)};
}

}  // namespace

web_outcome load_web_config_text(std::string_view text, const std::string& name) {
    return load_text(text, name, std::nullopt);
}

web_outcome load_web_config(const std::string& file, bad_tokens bad) {
    const auto text = read_config_file(file, file_kind::regular);
    if (text) return load_text(*text, file, bad);
    config_report report{printable(file, std::string_view::npos)};
    report.add(0, "", text.error().message);
    return {{}, report.take_errors(), {}};
}

}  // namespace seriesgate
