#include "process/health_check.hpp"

#include "config/config_error.hpp"
#include "config/endpoint.hpp"
#include "net/async.hpp"
#include "top/client.hpp"

namespace seriesgate {
namespace {

constexpr std::string_view usual_path = "/-/healthy";
constexpr std::string_view unix_prefix = "unix:";
constexpr std::size_t shown_max = 200;

/// The first line of a body explains the status, for example a drain.
std::string said_in(const std::string& body) {
    const std::string first = body.substr(0, body.find_first_of("\r\n"));
    return first.empty() ? "" : ": " + printable(first, shown_max);
}

net::awaitable<void> ask(top::gate_client& server, std::string& fault) {
    const std::string nothing_more;  // the server's address has path and query
    const auto got = co_await server.get(nothing_more);
    if (!got)
        fault = printable(got.error(), shown_max);
    else if (got->status < 200 || got->status > 299)
        fault = "answered " + std::to_string(got->status) + said_in(got->body);
}

}  // namespace

std::string parse_health_url(const std::string& url, top::server_address& to) {
    if (url.starts_with(unix_prefix)) {
        std::string wrong = top::parse_gate_url(url, to);
        to.target = usual_path;
        return wrong;
    }
    if (url.find('@') != std::string::npos || !parse_store_url(with_path(url, usual_path), to).empty())
        return "is not a URL such as " + std::string{health_url} + " or unix:/run/seriesgate/gate.sock";
    return "";
}

std::string fault_of_health(const std::string& url) {
    const std::string asked = url.empty() ? std::string{health_url} : url;
    top::client_options how{.agent = "seriesgate-health-check", .any_server = true};
    if (auto wrong = parse_health_url(asked, how.at); !wrong.empty()) return in_quotes(asked) + " " + wrong;
    net::io_context io{1};
    top::gate_client server{io, how};
    std::string fault;
    top::run_to_end(io, ask(server, fault));
    return fault.empty() ? "" : printable(asked, shown_max) + ": " + fault;
}

}  // namespace seriesgate
