#include "top/client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <exception>
#include <stdexcept>
#include <utility>

#include "base/clock.hpp"
#include "config/version.hpp"
#include "net/http_fields.hpp"
#include "net/timed_stream.hpp"
#include "net/tls_session.hpp"
#include "net/watched_file.hpp"

namespace seriesgate::top {
namespace {

constexpr std::size_t header_bytes_max = 16 * 1024;
constexpr std::size_t read_buffer_bytes = 64 * 1024;

std::string authorization_of(const client_options& asked) {
    const bool has_token = !asked.bearer_token_file.empty();
    if (!has_token && asked.username.empty()) return "";
    const secret_file file = has_token ? secret_file{"--bearer-token-file", asked.bearer_token_file}
                                       : secret_file{"--password-file", asked.password_file};
    return authorization_text(has_token ? std::string{} : asked.username, file.secret().reveal());
}

std::shared_ptr<const tls_context> tls_of(const client_options& asked) {
    if (!asked.at.tls) return nullptr;
    tls_settings settings{.role = tls_role::client};
    settings.any_server = asked.any_server;
    if (!asked.ca_file.empty()) {
        text_file authorities{asked.ca_file};
        authorities.refresh();
        if (!authorities.fault().empty()) throw std::runtime_error("--ca-file: " + authorities.fault());
        settings.authorities = authorities.text();
        if (settings.authorities.empty()) throw std::runtime_error("--ca-file: " + asked.ca_file + " is empty");
    }
    auto made = make_tls_context(settings);
    if (!made) throw std::runtime_error("--ca-file: " + made.error());
    return *made;
}

/// Longest list asked of /stats, those with most demand. The frame shows those nearest to their limit.
constexpr std::size_t budgets_max = 200;
constexpr std::size_t error_bytes_max = 200;

std::string fault_of(const answer& got, const std::string& target, bool has_credentials) {
    if (got.status == 401)
        return has_credentials ? "the gate does not know these credentials (401)"
                               : "the gate wants to know who asks (401): --username and --password-file, or "
                                 "--bearer-token-file, say it";
    if (got.status == 403) return "this user may not see the gate's figures (403)";
    const std::string path = target.substr(0, target.find('?'));
    if (got.status == 404) return path + " is not there (404): is this where the gate answers people (admin.listen)?";
    std::string says = error_in(got.body);
    if (says.empty()) says = got.body.substr(0, got.body.find('\n'));
    return fmt::format("{} answers {}: {}", path, got.status, says.substr(0, error_bytes_max));
}

/// Cuts long lists: a server may send more than it was asked for.
void keep_to(std::size_t lines_max, figures& of) {
    const auto keep = [lines_max](auto&... lists) { (lists.resize(std::min(lists.size(), lines_max)), ...); };
    keep(of.findings, of.top, of.budgets, of.refused, of.backends);
}

}  // namespace

gate_client::gate_client(net::io_context& io, const client_options& asked)
    : io_(io), asked_(asked), authorization_(authorization_of(asked)), tls_(tls_of(asked)) {}

net::awaitable<std::string> gate_client::connect(time_limit limit) {
    const server_address& at = asked_.at;
    std::vector<stream_endpoint> endpoints;
    if (!at.unix_path.empty()) {
        endpoints.push_back(unix_endpoint(at.unix_path));
    } else {
        auto found = co_await endpoints_of(io_, at.host, at.port, limit);
        if (!found) co_return found.error();
        endpoints = *std::move(found);
    }
    const session_maker make_session = [this] {
        return tls_ ? std::make_unique<tls_session>(tls_, asked_.at.host) : nullptr;
    };
    co_return co_await open_first(io_, std::move(endpoints), make_session, limit, stream_);
}

net::awaitable<gate_client::attempt> gate_client::exchange(const std::string& target, time_limit limit) {
    http::request<http::empty_body> message{http::verb::get, asked_.at.target.reveal() + target, 11};
    message.set(http::field::host, asked_.at.authority);
    message.set(http::field::user_agent, asked_.agent + "/" + std::string{version()});
    if (!authorization_.empty()) message.set(http::field::authorization, authorization_);
    stream_->expires_at(limit);
    attempt made;
    auto [unsent, sent] = co_await http::async_write(*stream_, message, no_throw);
    boost::beast::flat_buffer buffer{read_buffer_bytes};
    http::response_parser<http::string_body> parser;
    parser.header_limit(header_bytes_max);
    parser.body_limit(answer_bytes_max);
    error_code error = unsent;
    if (!error) {
        auto [unread, read] = co_await http::async_read(*stream_, buffer, parser, no_throw);
        error = unread;
    }
    if (error) {
        made.unheard = !parser.got_some() && error != boost::beast::error::timeout;
        made.fault = error == http::error::body_limit ? "the answer is larger than 8 MiB" : broken_text(error);
        stream_.reset();
        co_return made;
    }
    if (!parser.keep_alive()) stream_.reset();
    made.got = answer{.status = parser.get().result_int(), .body = std::move(parser.get().body())};
    co_return made;
}

net::awaitable<gate_client::outcome> gate_client::get(const std::string& target) {
    const auto limit = monotonic_clock::now() + asked_.answer_limit;
    for (;;) {
        const bool is_kept = stream_.has_value();
        if (!is_kept) {
            std::string fault = co_await connect(limit);
            if (!fault.empty()) co_return outcome{std::move(fault)};
        }
        attempt made = co_await exchange(target, limit);
        if (made.got) co_return outcome{*std::move(made.got)};
        if (!is_kept || !made.unheard) co_return outcome{std::move(made.fault)};
    }
}

void run_to_end(net::io_context& io, net::awaitable<void> asking) {
    std::exception_ptr failed;
    net::co_spawn(io, std::move(asking), [&](const std::exception_ptr& end) {
        failed = end;
        io.stop();
    });
    io.run();
    if (failed) std::rethrow_exception(failed);
}

net::awaitable<result<figures, std::string>> ask(gate_client& gate, question asked, std::size_t lines_max) {
    using outcome = result<figures, std::string>;
    const std::string window = asked.daily ? "daily" : "hourly";
    const std::array<std::string, 4> targets{fmt::format("/stats?limit={}", budgets_max),
                                             fmt::format("/api/v1/findings?window={}", window),
                                             fmt::format("/api/v1/top?by={}&kind={}&window={}&limit={}", asked.by,
                                                         asked.refused ? "refused" : "new", window, lines_max),
                                             fmt::format("/api/v1/refused?limit={}", lines_max)};
    figures made;
    made.asked = asked;
    for (std::size_t each = 0; each < targets.size(); ++each) {
        const std::string& target = targets[each];
        const auto got = co_await gate.get(target);
        if (!got) co_return outcome{got.error()};
        if (got->status != 200) co_return outcome{fault_of(*got, target, gate.has_credentials())};
        std::string fault;
        if (each == 0) fault = take_stats(made, got->body);
        if (each == 1) fault = take_findings(made, got->body);
        if (each == 2) fault = take_top_entries(made, got->body, asked.by);
        if (each == 3) fault = take_refused(made, got->body);
        if (!fault.empty()) co_return outcome{std::move(fault)};
    }
    keep_to(lines_max, made);
    co_return outcome{std::move(made)};
}

}  // namespace seriesgate::top
