#include "config/web_tls_keys.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "config/known_keys.hpp"
#include "config/rule_values.hpp"
#include "config/scalars.hpp"
#include "config/wording.hpp"

namespace seriesgate {
namespace {

constexpr std::size_t sans_max = 1000;
constexpr std::size_t choices_max = 64;

/// The section as it is read.
struct tls_draft {
    const std::filesystem::path& folder;
    web_tls_config made;
    bool cert = false;  ///< the key is there
    bool key = false;
    bool client_ca = false;
    bool sans = false;
};

/// What a name of the file stands for.
template <typename Value>
struct choice {
    std::string_view name;
    Value value;
};

constexpr std::array<choice<client_certificates>, 6> client_auth_types{
    {{"NoClientCert", client_certificates::none},
     {"RequestClientCert", client_certificates::request},
     {"RequireAnyClientCert", client_certificates::require_any},
     {"RequireClientCert", client_certificates::require_any},  // as it was called once
     {"VerifyClientCertIfGiven", client_certificates::verify_if_given},
     {"RequireAndVerifyClientCert", client_certificates::require_and_verify}}};

constexpr std::array<choice<tls_version>, 2> versions{{{"TLS12", tls_version::v1_2}, {"TLS13", tls_version::v1_3}}};

/// Source: Go's crypto/tls, CipherSuites(): those that are not insecure.
constexpr std::array<std::string_view, 13> cipher_suites{
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

constexpr std::array<std::string_view, 4> curves{"CurveP256", "CurveP384", "CurveP521", "X25519"};

template <typename Value, std::size_t count>
const choice<Value>* find(const std::array<choice<Value>, count>& among, std::string_view name) {
    const auto found = std::ranges::find(among, name, &choice<Value>::name);
    return found == among.end() ? nullptr : &*found;
}

std::string none_of(std::string_view text, std::span<const std::string_view> names) {
    const auto meant = closest(text, names);
    if (!meant.empty()) return in_quotes(text) + " is not known, did you mean " + in_quotes(meant) + "?";
    std::string all;
    for (const std::string_view each : names) all.append(all.empty() ? "" : ", ").append(each);
    return in_quotes(text) + " is none of " + all;
}

template <typename Value, std::size_t count>
std::string none_of(std::string_view text, const std::array<choice<Value>, count>& among) {
    std::vector<std::string_view> names;
    for (const auto& each : among) names.push_back(each.name);
    return none_of(text, names);
}

template <typename Value, std::size_t count>
void read_choice(const placed_value& at, const std::array<choice<Value>, count>& among, Value& target) {
    read_scalar(at, [&](std::string_view text) -> std::string {
        const auto* found = find(among, text);
        if (found == nullptr) return none_of(text, among);
        target = found->value;
        return "";
    });
}

void read_path(const placed_value& at, const tls_draft& to, std::string& target) {
    read_scalar(at, [&](std::string_view text) -> std::string {
        if (text.empty()) return "is empty, expected a path";
        std::string path;
        if (std::string wrong = assign_path(text, path); !wrong.empty()) return wrong;
        target = (to.folder / path).string();
        return "";
    });
}

void read_cert_file(const placed_value& at, tls_draft& to) {
    to.cert = true;
    read_path(at, to, to.made.cert_file);
}

void read_key_file(const placed_value& at, tls_draft& to) {
    to.key = true;
    read_path(at, to, to.made.key_file);
}

void read_client_ca_file(const placed_value& at, tls_draft& to) {
    to.client_ca = true;
    read_path(at, to, to.made.client_ca_file);
}

void read_client_auth_type(const placed_value& at, tls_draft& to) {
    read_choice(at, client_auth_types, to.made.client_auth);
}

void read_allowed_sans(const placed_value& at, tls_draft& to) {
    to.sans = true;
    for (const placed_value& item : read_items(at, sans_max))
        read_scalar(item, [&](std::string_view text) -> std::string {
            if (text.empty()) return "is empty, expected a name, an address or a URI";
            to.made.client_allowed_sans.emplace_back(text);
            return "";
        });
}

void read_version(const placed_value& at, tls_version& target) {
    if (const auto& text = at.value().text; text == "TLS10" || text == "TLS11")
        return at.fail(in_quotes(text) + " is not offered: nothing older than TLS12 is safe");
    read_choice(at, versions, target);
}

void read_version_min(const placed_value& at, tls_draft& to) {
    read_version(at, to.made.version_min);
}

void read_version_max(const placed_value& at, tls_draft& to) {
    read_version(at, to.made.version_max);
    if (to.made.version_max < to.made.version_min) at.fail("is below min_version");
}

void read_names(const placed_value& at, std::span<const std::string_view> among, std::vector<std::string>& target) {
    for (const placed_value& item : read_items(at, choices_max))
        read_scalar(item, [&](std::string_view text) -> std::string {
            if (std::ranges::count(among, text) == 0) return none_of(text, among);
            target.emplace_back(text);
            return "";
        });
}

void read_cipher_suites(const placed_value& at, tls_draft& to) {
    read_names(at, cipher_suites, to.made.cipher_suites);
}

void read_curve_preferences(const placed_value& at, tls_draft& to) {
    read_names(at, curves, to.made.curves);
}

void read_server_preference(const placed_value& at, tls_draft& to) {
    read_flag(at, to.made.server_preference);
}

// Keys and certificates within the file: it would have to be as secret as they are, and to be written anew with them.
void refuse_inline(const placed_value& at, tls_draft&) {
    at.fail_key("is not offered: write the PEM text to a file of its own, and its path as " +
                in_quotes(at.key().substr(at.key().rfind('.') + 1) + "_file"));
}

constexpr std::array<field<tls_draft>, 13> fields{{
    {"cert", refuse_inline},
    {"key", refuse_inline},
    {"client_ca", refuse_inline},
    {"cert_file", read_cert_file},
    {"key_file", read_key_file},
    {"client_auth_type", read_client_auth_type},
    {"client_ca_file", read_client_ca_file},
    {"client_allowed_sans", read_allowed_sans},
    {"min_version", read_version_min},
    {"max_version", read_version_max},
    {"cipher_suites", read_cipher_suites},
    {"prefer_server_cipher_suites", read_server_preference},
    {"curve_preferences", read_curve_preferences},
}};

// What is good each by itself and not together.
void check(const placed_value& at, const tls_draft& read) {
    const web_tls_config& made = read.made;
    if (!read.cert) at.fail_below("cert_file", "is required");
    if (!read.key) at.fail_below("key_file", "is required");
    if (made.verifies_clients() && !read.client_ca)
        at.fail_below("client_ca_file", "is required: client_auth_type asks for certificates that can be verified");
    if (read.client_ca && !made.verifies_clients())
        at.fail_below("client_ca_file",
                      "would verify nobody: client_auth_type has to be RequireAndVerifyClientCert (or "
                      "VerifyClientCertIfGiven)");
    const bool required = made.client_auth == client_certificates::require_any ||
                          made.client_auth == client_certificates::require_and_verify;
    if (read.sans && !required)
        at.fail_below("client_allowed_sans", "needs client_auth_type to be RequireAndVerifyClientCert");
}

}  // namespace

void read_web_tls(const placed_value& at, const std::filesystem::path& folder, web_tls_config& target) {
    tls_draft draft{.folder = folder, .made = {}};
    read_fields(at, fields, draft);
    if (at.value().kind == yaml_kind::map) check(at, draft);
    target = std::move(draft.made);
}

}  // namespace seriesgate
