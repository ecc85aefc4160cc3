#include "config/redis_url.hpp"

#include <charconv>
#include <optional>
#include <system_error>

#include "config/endpoint.hpp"
#include "config/wording.hpp"

namespace seriesgate {
namespace {

constexpr std::string_view url_form = "a URL such as redis://127.0.0.1:6379/0";
constexpr std::uint16_t redis_port = 6379;
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

std::optional<unsigned> number_in(std::string_view text) {
    unsigned number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_number = error == std::errc{} && end == text.data() + text.size() && number <= 0x7fffffff;
    return is_number ? std::optional{number} : std::nullopt;
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

std::string parse_unix_url(std::string_view text, redis_config& target) {
    const parted url = part_at('?', text);
    listen_address read;
    if (const std::string wrong = parse_listen("unix:" + std::string{url.before}, read); !wrong.empty())
        return wrong.starts_with("the path") ? wrong : "has no path of a unix socket, as unix:///run/redis.sock has";
    std::optional<unsigned> database = 0;
    if (url.behind) {
        const parted argument = part_at('=', *url.behind);
        if (argument.before != "db" || !argument.behind) return "takes db=0 behind the question mark, nothing else";
        database = number_in(*argument.behind);
        if (!database) return bad_database(*argument.behind);
    }
    target.host.clear();
    target.port = redis_port;
    target.unix_path = std::move(read.unix_path);
    target.tls = false;
    target.database = *database;
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
    const std::string no_host = "has no valid host; expected " + std::string{url_form};
    if (std::string wrong = parse_host_port(url.before, redis_port, no_host, server); !wrong.empty()) return wrong;
    const std::string_view path = url.behind.value_or("");
    const std::optional<unsigned> database = path.empty() ? 0 : number_in(path);
    if (!database) return bad_database(path);
    target.host = std::move(server.host);
    target.port = server.port;
    target.unix_path.clear();
    target.tls = has_tls;
    target.database = *database;
    return "";
}

}  // namespace

std::string parse_redis_url(std::string_view text, redis_config& target) {
    const auto behind = [text](std::string_view scheme) { return text.substr(scheme.size()); };
    constexpr std::string_view plain = "redis://", secured = "rediss://", local = "unix://";
    if (text.starts_with(plain)) return parse_tcp_url(behind(plain), false, target);
    if (text.starts_with(secured)) return parse_tcp_url(behind(secured), true, target);
    if (text.starts_with(local)) return parse_unix_url(behind(local), target);
    return "is not " + std::string{url_form} + "; redis://, rediss:// and unix:// are supported";
}

std::string parse_sentinel_address(std::string_view text, host_port& target) {
    const std::string otherwise = in_quotes(text) + " is not an address such as sentinel-0:26379 or [::1]:26379";
    return parse_host_port(text, sentinel_port, otherwise, target);
}

}  // namespace seriesgate
