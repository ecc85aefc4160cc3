#include "config/endpoint.hpp"

#include <sys/un.h>

#include <array>
#include <boost/url/authority_view.hpp>
#include <boost/url/ipv4_address.hpp>
#include <boost/url/ipv6_address.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/scheme.hpp>
#include <boost/url/url_view.hpp>
#include <cassert>
#include <charconv>
#include <optional>
#include <system_error>

#include "config/wording.hpp"
#include "core/path_tenant.hpp"

namespace seriesgate {
namespace {

namespace urls = boost::urls;

constexpr std::string_view listen_forms = "an address such as 0.0.0.0:9201, :9201 or [::1]:9201";
constexpr std::string_view url_form = "a URL such as http://127.0.0.1:8428/api/v1/write";
constexpr std::string_view supported = "only http://, https:// and discard: are supported";

constexpr std::string_view unix_prefix = "unix:";
/// The system's, without the zero behind it.
constexpr std::size_t unix_path_bytes_max = sizeof(sockaddr_un::sun_path) - 1;

std::string_view to_std(boost::core::string_view text) noexcept {
    return {text.data(), text.size()};
}

std::string to_std(const urls::pct_string_view& text) {
    return std::string{text.data(), text.size()};
}

std::optional<std::uint16_t> parse_port(std::string_view text) noexcept {
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return port;
}

bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

bool is_name_character(char c) noexcept {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.';
}

// The URL grammar calls "300.1.1.1" a name, and lets a name hold `%41` or `!`. Resolvers do not see it that way.
bool is_host_name(std::string_view text) noexcept {
    if (text.empty()) return false;
    for (const char c : text) {
        if (!is_name_character(c)) return false;
    }
    return !is_digit(text[text.rfind('.') + 1]);
}

// The host without brackets; nothing if it is none that can be resolved.
std::optional<std::string> host_of(const urls::authority_view& authority) {
    std::string host = to_std(authority.encoded_host_address());
    switch (authority.host_type()) {
        case urls::host_type::ipv4:
        case urls::host_type::ipv6:
            return host;
        case urls::host_type::name:
            if (is_host_name(host)) return host;
            break;
        case urls::host_type::none:
        case urls::host_type::ipvfuture:
            break;
    }
    return std::nullopt;
}

std::string bad_port(std::string_view port, unsigned min) {
    return "port " + in_quotes(port) + " is not between " + std::to_string(min) + " and 65535";
}

std::optional<std::uint16_t> default_port(bool has_tls) noexcept {
    return has_tls ? std::uint16_t{443} : std::uint16_t{80};
}

std::string check_scheme(const urls::url_view& url) {
    const std::string_view scheme = to_std(url.scheme());
    if (url.scheme_id() == urls::scheme::http || url.scheme_id() == urls::scheme::https) return "";
    if (scheme == "discard") return "discard: takes nothing after the colon";
    return in_quotes(scheme) + " is not supported, " + std::string{supported};
}

/// Braces are no characters of a URL: marks for a tenant pass the parser in another spelling.
constexpr std::array tenant_marks{tenant_mark, account_mark};
constexpr std::array<std::string_view, 2> encoded_marks{"%7Btenant%7D", "%7Baccount%7D"};
constexpr std::size_t marked_bytes = 4;  // that the other spelling of one has more

std::string with_marks(std::string_view text, const std::array<std::string_view, 2>& from,
                       const std::array<std::string_view, 2>& to) {
    std::string made{text};
    for (std::size_t i = 0; i < from.size(); ++i)
        for (auto at = made.find(from[i]); at != std::string::npos; at = made.find(from[i], at + to[i].size()))
            made.replace(at, from[i].size(), to[i]);
    return made;
}

std::string parse_unix_path(std::string_view path, listen_address& target) {
    if (!path.starts_with('/') || path.ends_with('/') || path.find('\0') != std::string_view::npos)
        return in_quotes(path) + " is not the path of a unix socket, such as unix:/run/seriesgate/gate.sock";
    if (path.size() > unix_path_bytes_max)
        return "the path of a unix socket has at most " + std::to_string(unix_path_bytes_max) +
               " bytes, this one has " + std::to_string(path.size());
    target = {.host = {}, .port = 0, .unix_path = std::string{path}};
    return "";
}

}  // namespace

std::string parse_listen(std::string_view text, listen_address& target) {
    if (text.starts_with(unix_prefix)) return parse_unix_path(text.substr(unix_prefix.size()), target);
    const std::string wrong = in_quotes(text) + " is not " + std::string{listen_forms};
    const auto authority = urls::parse_authority(text);
    if (!authority || authority->has_userinfo() || to_std(authority->port()).empty()) return wrong;
    const auto port = parse_port(to_std(authority->port()));
    if (!port) return bad_port(to_std(authority->port()), 0);
    if (authority->encoded_host().empty()) {
        target = {.host = listen_address{}.host, .port = *port};
        return "";
    }
    auto host = host_of(*authority);
    if (!host) return wrong;
    target = {.host = std::move(*host), .port = *port};
    return "";
}

std::string parse_admin_listen(std::string_view text, std::optional<listen_address>& target) {
    listen_address read;
    if (!text.empty())
        if (auto wrong = parse_listen(text, read); !wrong.empty()) return wrong;
    target.reset();
    if (!text.empty()) target = std::move(read);
    return "";
}

std::string parse_store_url(std::string_view text, store_backend& target) {
    // The messages do not repeat the URL: it may hold credentials.
    const std::string written = with_marks(text, tenant_marks, encoded_marks);
    const auto url = urls::parse_uri(written);
    if (!url) return "is not " + std::string{url_form};
    if (auto wrong = check_scheme(*url); !wrong.empty()) return wrong;
    if (!url->has_authority()) return "is not " + std::string{url_form};
    if (url->has_userinfo())
        return "must not hold credentials; basicAuth has them, or else the sender's Authorization header is passed on";
    auto host = host_of(url->authority());
    if (!host) return "has no valid host; expected " + std::string{url_form};
    const bool has_tls = url->scheme_id() == urls::scheme::https;
    const std::string_view port_text = to_std(url->port());
    const auto port = port_text.empty() ? default_port(has_tls) : parse_port(port_text);
    if (!port || *port == 0) return bad_port(port_text, 1);
    if (url->has_fragment()) return "must not hold a fragment ('#...')";
    if (url->encoded_path().empty()) return "has no path; expected " + std::string{url_form};
    // Boost.URL 1.81 takes what follows the port's digits for the path, `http://a:80x` for example.
    if (!to_std(url->encoded_path()).starts_with('/')) return "is not " + std::string{url_form};
    const bool has_mark = written != text;
    const std::string path = with_marks(to_std(url->encoded_path()), encoded_marks, tenant_marks);
    if (has_mark && (!find_tenant_mark(path) || written.size() != text.size() + marked_bytes))
        return "may have one {tenant} or {account}, in the place of a whole segment of its path";

    target = {.url = text,
              .tls = has_tls,
              .host = std::move(*host),
              .port = *port,
              .target = path + std::string{to_std(url->encoded_target()).substr(url->encoded_path().size())},
              .authority = to_std(url->encoded_host())};
    assert(target.target.reveal().starts_with('/') && !target.authority.empty());
    if (!port_text.empty()) target.authority.append(":").append(port_text);
    return "";
}

bool has_tenant_mark(const store_backend& backend) {
    const std::string& target = backend.target.reveal();
    return find_tenant_mark(std::string_view{target}.substr(0, target.find('?'))).has_value();
}

std::string parse_server_name(std::string_view text, std::string& target) {
    const bool is_address = urls::parse_ipv4_address(text).has_value() || urls::parse_ipv6_address(text).has_value();
    if (!text.empty() && !is_address && !is_host_name(text)) return in_quotes(text) + " is not the name of a host";
    target = text;
    return "";
}

std::string parse_upstream_url(std::string_view text, upstream_config& target) {
    store_backend backend;
    const bool discard = text == "discard:";
    if (!discard)
        if (auto wrong = parse_store_url(text, backend); !wrong.empty()) return wrong;
    // The other keys of the section stay: a flag may replace the URL of the file.
    target.discard = discard;
    target.store.backends.clear();
    if (!discard) target.store.backends.push_back(std::move(backend));
    return "";
}

}  // namespace seriesgate
