#include "config/endpoint.hpp"

#include <sys/un.h>

#include <algorithm>
#include <array>
#include <boost/algorithm/string/replace.hpp>
#include <boost/url/authority_view.hpp>
#include <boost/url/ipv4_address.hpp>
#include <boost/url/ipv6_address.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/scheme.hpp>
#include <boost/url/url_view.hpp>
#include <cassert>

#include "config/config_error.hpp"
#include "core/text.hpp"

namespace seriesgate {
namespace {

namespace urls = boost::urls;

constexpr std::string_view listen_forms = "an address such as 0.0.0.0:9201, :9201 or [::1]:9201";
constexpr std::string_view url_form = "a URL such as http://127.0.0.1:8428/api/v1/write";
constexpr std::string_view supported = "only http://, https:// and discard: are supported";

constexpr std::string_view unix_prefix = "unix:";
/// The system's, without the zero behind it.
constexpr std::size_t unix_path_bytes_max = sizeof(sockaddr_un::sun_path) - 1;

// The URL grammar calls "300.1.1.1" a name, and lets a name hold `%41` or `!`. Resolvers do not see it that way.
bool is_host_name(std::string_view text) noexcept {
    const auto fits = [](char c) { return is_identifier_character(c) || c == '-' || c == '.'; };
    const std::string_view last = text.substr(text.rfind('.') + 1);  // empty behind the root's dot
    return !text.empty() && std::ranges::all_of(text, fits) && (last.empty() || !is_digit(last.front()));
}

// The host without brackets; nothing if it is none that can be resolved.
std::optional<std::string> host_of(const urls::authority_view& authority) {
    std::string host{std::string_view{authority.encoded_host_address()}};
    const auto type = authority.host_type();
    const bool is_address = type == urls::host_type::ipv4 || type == urls::host_type::ipv6;
    if (is_address || (type == urls::host_type::name && is_host_name(host))) return host;
    return std::nullopt;
}

std::string bad_port(std::string_view port, unsigned min) {
    return "port " + in_quotes(port) + " is not between " + std::to_string(min) + " and 65535";
}

std::string check_scheme(const urls::url_view& url) {
    const std::string_view scheme = url.scheme();
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
    for (std::size_t i = 0; i < from.size(); ++i) boost::replace_all(made, from[i], to[i]);
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

constexpr std::string_view redis_form = "a URL such as redis://127.0.0.1:6379/0";
constexpr std::uint16_t sentinel_port = 26379;

/// What stands before and behind the first of these characters; nothing behind it if there is none.
struct parted {
    std::string_view before;
    std::optional<std::string_view> behind;
};

parted part_at(char separator, std::string_view text) {
    const auto at = text.find(separator);
    if (at == std::string_view::npos) return {text, std::nullopt};
    return {text.substr(0, at), text.substr(at + 1)};
}

std::optional<unsigned> database_in(std::string_view text) {
    const auto number = whole_number<unsigned>(text);
    return number && *number <= 0x7fffffff ? number : std::nullopt;
}

bool has_port(std::string_view authority) {
    return authority.find(':', authority.starts_with('[') ? authority.find(']') : 0) != std::string_view::npos;
}

/// @return what is wrong: with the port in words, with anything else as `otherwise`.
std::string parse_host_port(std::string_view text, std::uint16_t default_port, const std::string& otherwise,
                            host_port& target) {
    std::string whole{text};
    if (!has_port(text)) whole.append(":").append(std::to_string(default_port));
    listen_address read;
    if (text.empty() || text.starts_with(':') || text.starts_with("unix:")) return otherwise;
    const std::string wrong = parse_listen(whole, read);
    if (wrong.starts_with("port ") || (wrong.empty() && read.port == 0))
        return "port " + in_quotes(whole.substr(whole.rfind(':') + 1)) + " is not between 1 and 65535";
    if (!wrong.empty()) return otherwise;
    target = {.host = std::move(read.host), .port = read.port};
    return "";
}

std::string bad_database(std::string_view text) {
    return "has " + in_quotes(text) + " where the number of a database is expected";
}

/// Takes from `place` what a URL says.
void set_place(redis_config& target, redis_config place) {
    target.host = std::move(place.host);
    target.port = place.port;
    target.unix_path = std::move(place.unix_path);
    target.tls = place.tls;
    target.database = place.database;
}

std::string parse_unix_url(std::string_view text, redis_config& target) {
    const parted url = part_at('?', text);
    listen_address read;
    if (const std::string wrong = parse_listen("unix:" + std::string{url.before}, read); !wrong.empty())
        return wrong.starts_with("the path") ? wrong : "has no path of a unix socket, as unix:///run/redis.sock has";
    std::optional<unsigned> database = 0;
    if (url.behind) {
        const parted argument = part_at('=', *url.behind);
        if (argument.before != "db" || !argument.behind) return "takes db=0 behind the question mark, nothing else";
        database = database_in(*argument.behind);
        if (!database) return bad_database(*argument.behind);
    }
    set_place(target, {.unix_path = std::move(read.unix_path), .database = *database});
    return "";
}

std::string parse_tcp_url(std::string_view text, bool has_tls, redis_config& target) {
    const parted url = part_at('/', text);
    // The messages do not repeat the URL: it may hold credentials.
    if (text.find('@') != std::string_view::npos)
        return "must not hold credentials; username and passwordFile have them";
    if (text.find('?') != std::string_view::npos) return "must not hold a query ('?...')";
    if (text.find('#') != std::string_view::npos) return "must not hold a fragment ('#...')";
    host_port server;
    const std::string no_host = "has no valid host; expected " + std::string{redis_form};
    if (std::string wrong = parse_host_port(url.before, redis_config{}.port, no_host, server); !wrong.empty())
        return wrong;
    const std::string_view path = url.behind.value_or("");
    const std::optional<unsigned> database = path.empty() ? 0 : database_in(path);
    if (!database) return bad_database(path);
    set_place(target, {.host = std::move(server.host), .port = server.port, .tls = has_tls, .database = *database});
    return "";
}

/// The addresses of this machine at which a connection to a host ends; none: another machine, or a name that says
/// nothing.
std::vector<std::string> local_addresses(const std::string& host) {
    const std::string name = host.ends_with('.') ? host.substr(0, host.size() - 1) : host;
    if (name == "localhost" || name.ends_with(".localhost")) return {"127.0.0.1", "::1"};
    if (name == "::" || name == "::1" || name == "ip6-localhost") return {"::1"};
    if (name == "0.0.0.0") return {"127.0.0.1"};
    if (name.starts_with("127.") && name.find_first_not_of("0123456789.") == std::string::npos) return {name};
    return {};
}

}  // namespace

std::string parse_listen(std::string_view text, listen_address& target) {
    if (text.starts_with(unix_prefix)) return parse_unix_path(text.substr(unix_prefix.size()), target);
    const std::string wrong = in_quotes(text) + " is not " + std::string{listen_forms};
    const auto authority = urls::parse_authority(text);
    if (!authority || authority->has_userinfo() || authority->port().empty()) return wrong;
    const auto port = whole_number<std::uint16_t>(authority->port());
    if (!port) return bad_port(authority->port(), 0);
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
    const std::string_view port_text = url->port();
    const auto port = whole_number<std::uint16_t>(!port_text.empty() ? port_text : has_tls ? "443" : "80");
    if (!port || *port == 0) return bad_port(port_text, 1);
    if (url->has_fragment()) return "must not hold a fragment ('#...')";
    if (url->encoded_path().empty()) return "has no path; expected " + std::string{url_form};
    // Boost.URL 1.81 takes what follows the port's digits for the path, `http://a:80x` for example.
    if (!url->encoded_path().starts_with('/')) return "is not " + std::string{url_form};
    const bool has_mark = written != text;
    const std::string path = with_marks(url->encoded_path(), encoded_marks, tenant_marks);
    if (has_mark && (!find_tenant_mark(path) || written.size() != text.size() + marked_bytes))
        return "may have one {tenant} or {account}, in the place of a whole segment of its path";

    target = {.url = text,
              .tls = has_tls,
              .host = std::move(*host),
              .port = *port,
              .target = path + std::string{std::string_view{url->encoded_target()}.substr(url->encoded_path().size())},
              .authority = std::string{std::string_view{url->encoded_host()}}};
    assert(target.target.reveal().starts_with('/') && !target.authority.empty());
    if (!port_text.empty()) target.authority.append(":").append(port_text);
    return "";
}

std::string with_path(std::string_view url, std::string_view path) {
    const auto host = url.find("://");
    const bool has_path =
        host == std::string_view::npos || url.find_first_of("/?#", host + 3) != std::string_view::npos;
    return std::string{url}.append(has_path ? "" : path);
}

std::optional<tenant_pattern> tenant_mark_of(const store_backend& backend) {
    const std::string_view target = backend.target.reveal();
    return find_tenant_mark(target.substr(0, target.find('?')));
}

bool has_tenant_mark(const store_backend& backend) {
    return tenant_mark_of(backend).has_value();
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

std::string shown(const listen_address& value) {
    if (!value.unix_path.empty()) return "unix:" + value.unix_path;
    const bool is_ipv6 = value.host.find(':') != std::string::npos;
    return (is_ipv6 ? "[" + value.host + "]" : value.host) + ":" + std::to_string(value.port);
}

std::string shown_url(const upstream_config& value) {
    if (value.discard) return "discard:";
    std::string urls;
    for (const store_backend& backend : value.store.backends)
        urls.append(urls.empty() ? "" : ", ").append(without_secrets(backend.url.reveal()));
    return urls;
}

std::string parse_redis_url(std::string_view text, redis_config& target) {
    const auto behind = [text](std::string_view scheme) { return text.substr(scheme.size()); };
    constexpr std::string_view plain = "redis://", secured = "rediss://", local = "unix://";
    if (text.starts_with(plain)) return parse_tcp_url(behind(plain), false, target);
    if (text.starts_with(secured)) return parse_tcp_url(behind(secured), true, target);
    if (text.starts_with(local)) return parse_unix_url(behind(local), target);
    return "is not " + std::string{redis_form} + "; redis://, rediss:// and unix:// are supported";
}

std::string parse_sentinel_address(std::string_view text, host_port& target) {
    const std::string otherwise = in_quotes(text) + " is not an address such as sentinel-0:26379 or [::1]:26379";
    return parse_host_port(text, sentinel_port, otherwise, target);
}

own_address find_own_address(const listen_address& listen, const store_backend& upstream) {
    if (!listen.unix_path.empty() || listen.port == 0 || listen.port != upstream.port) return own_address::no;
    const std::string our_host = in_lower_case(listen.host);
    const std::string their_host = in_lower_case(upstream.host);
    if (our_host == their_host) return own_address::yes;
    const std::vector<std::string> ours = local_addresses(our_host);
    const std::vector<std::string> theirs = local_addresses(their_host);
    if (ours.empty() || theirs.empty()) return own_address::no;
    // Linux gives a listener on :: the connections of both families.
    const auto is_ours = [&](const std::string& address) {
        return our_host == "::" || (our_host == "0.0.0.0" && address != "::1") ||
               std::ranges::count(ours, address) != 0;
    };
    if (std::ranges::any_of(theirs, is_ours)) return own_address::yes;
    // Whoever writes 127.0.0.1 and 127.0.0.2 means two.
    const bool are_two = our_host.starts_with("127.") && their_host.starts_with("127.");
    return are_two ? own_address::no : own_address::maybe;
}

}  // namespace seriesgate
