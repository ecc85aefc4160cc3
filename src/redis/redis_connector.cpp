#include "redis/redis_connector.hpp"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "net/async.hpp"
#include "redis/redis_reply.hpp"

namespace seriesgate {
namespace {

using kind = redis_error::kind;
using clock = monotonic_clock;

constexpr std::size_t names_max = 128;
/// One that may hang, a known one, and one that is not known yet. The thread's other names wait for all.
constexpr std::size_t lookups_max = 3;

redis_error unreachable(std::string text) {
    return {.why = redis_error::kind::unreachable, .text = std::move(text)};
}

/// Whether the server's text repeats a secret or its beginning.
bool repeats(std::string_view text, std::string_view secret) noexcept {
    return !secret.empty() && text.find(secret.substr(0, 8)) != std::string_view::npos;
}

redis_error not_authenticated(redis_error why, const std::string& password) {
    if (why.text.starts_with("ERR AUTH")) why.why = kind::denied;
    if (repeats(why.text, password)) why.text = why.text.substr(0, why.text.find(' ')) + " <secret>";
    why.text.insert(0, "AUTH: ");
    return why;
}

redis_error in_command(std::string_view command, redis_error why) {
    why.text.insert(0, std::string{command}.append(": "));
    return why;
}

/// Leaves time for the other attempts.
clock::time_point part_of(clock::time_point by, std::size_t parts) {
    const auto now = clock::now();
    return now + (by - now) / static_cast<std::ptrdiff_t>(parts);
}

redis_error at_sentinel(const host_port& at, const redis_error& why) {
    return {.why = kind::unreachable, .text = "the sentinel at " + at.host + ": " + why.text};
}

void close(redis_pipeline& line) {
    line.close({.why = kind::unreachable, .text = "it is not needed any more"});
}

}  // namespace

// --- Connections: names, sockets, TLS.

/// Looks the name up each time, since a server may fail over by name. Known addresses serve if the lookup fails.
net::awaitable<result<redis_connector::endpoints, redis_error>> redis_connector::look_up(const host_port& to,
                                                                                         time_limit by) {
    if (to.host.empty()) co_return endpoints{unix_endpoint(config_.unix_path)};
    error_code no_address;
    const auto address = net::ip::make_address(to.host, no_address);
    if (!no_address) co_return endpoints{tcp_endpoint(address, to.port)};

    const name_port name{to.host, to.port};
    const bool is_busy = !looking_up_.empty(), is_known = known_.contains(name);
    awaited<result<endpoints, error_code>> answer{io_};
    if (looking_up_.size() < lookups_max - (is_known ? 1 : 0) && !looking_up_.contains(name)) {
        resolver_.look_up(to.host, to.port, [this, name, give = answer.to_give()](error_code error, endpoints found) {
            looking_up_.erase(name);
            if (error) return give(error);
            if (known_.size() >= names_max) known_.clear();
            known_[name] = found;
            give(std::move(found));
        });
        looking_up_.insert(name);  // not if that has thrown
    }
    if (const auto before = known_.find(name); is_busy && before != known_.end())
        co_return before->second;  // the resolver may hang
    auto found = co_await answer.wait(by - clock::now());
    if (found && *found) co_return *std::move(*found);
    if (const auto before = known_.find(name); before != known_.end()) co_return before->second;
    co_return unreachable(to.host + (found ? " does not resolve: " + found->error().message()
                                           : std::string{" has not been looked up in time"}));
}

net::awaitable<redis_connector::opened> redis_connector::open(const host_port& to, time_limit by) {
    auto found = co_await look_up(to, part_of(by, 2));
    if (!found) co_return found.error();
    const session_maker make_session = [&] { return config_.tls ? shared_.make_session(to.host) : nullptr; };
    std::optional<timed_stream> stream;
    const std::string fault = co_await open_first(io_, *std::move(found), make_session, by, stream);
    if (!stream) co_return unreachable(fault.empty() ? to.host + " has no address" : fault);
    co_return std::make_shared<redis_pipeline>(*std::move(stream));
}

// --- The greeting.

net::awaitable<std::optional<redis_error>> redis_connector::authenticate(redis_pipeline& line, time_limit by) {
    const std::string password = shared_.password();
    if (password.empty() && config_.username.empty()) co_return std::nullopt;
    std::vector<std::string> words{"AUTH"};
    if (!config_.username.empty()) words.push_back(config_.username);
    words.push_back(password);
    auto answer = co_await line.call(words, by);
    if (!answer) co_return not_authenticated(answer.error(), password);
    co_return std::nullopt;
}

net::awaitable<std::optional<redis_error>> redis_connector::greet(redis_connection& made, time_limit by) {
    auto failed = co_await authenticate(*made.line, by);
    if (failed) co_return failed;
    if (config_.database != 0) {
        const std::vector<std::string> select{"SELECT", std::to_string(config_.database)};
        auto selected = co_await made.line->call(select, by);
        if (!selected) co_return in_command("SELECT", selected.error());
    }
    const std::vector<std::string> ask_info{"INFO", "server"};
    auto info = co_await made.line->call(ask_info, by);
    if (!info) co_return in_command("INFO", info.error());
    made.run_id = info_field(text_of(**info), "run_id");
    if (!config_.sentinel_addresses.empty()) {
        const std::vector<std::string> ask_role{"ROLE"};
        auto role = co_await made.line->call(ask_role, by);
        if (!role) co_return in_command("ROLE", role.error());
        if (role_in(**role) != "master")
            co_return redis_error{.why = kind::read_only,
                                  .text = "ROLE: the server that the sentinels name is no master"};
    }
    if (config_.cluster) {
        const std::vector<std::string> ask_slots{"CLUSTER", "SLOTS"};
        auto slots = co_await made.line->call(ask_slots, by);
        if (!slots) co_return in_command("CLUSTER SLOTS", slots.error());
        auto nodes = cluster_nodes(**slots, made.at);
        if (!nodes.empty()) route_.learned(std::move(nodes));
    }
    co_return std::nullopt;
}

// --- The next server.

const host_port& redis_route::next() const noexcept {
    if (moved_to_) return *moved_to_;
    const std::size_t place = turn_ % (known_.size() + 1);
    return place == 0 ? first_ : known_[place - 1];
}

void redis_route::failed() noexcept {
    if (moved_to_)
        moved_to_.reset();
    else
        ++turn_;
}

net::awaitable<redis_connector::connected> redis_connector::connect_to(const host_port& to, time_limit by) {
    auto line = co_await open(to, by);
    if (!line) co_return line.error();
    redis_connection made{.line = std::move(*line), .at = to, .run_id = {}};
    auto failed = co_await greet(made, by);
    if (failed) {
        close(*made.line);
        co_return std::move(*failed);
    }
    co_return made;
}

net::awaitable<redis_connector::connected> redis_connector::connect(time_limit by) {
    host_port to = route_.next();
    if (!config_.sentinel_addresses.empty()) {
        auto master = co_await find_master(part_of(by, 2));
        if (!master) co_return master.error();
        to = std::move(*master);
    }
    co_return co_await connect_to(to, by);
}

void redis_connector::failed() noexcept {
    ++sentinel_;
    route_.failed();
}

/// A sentinel without a password of its own needs none, or has the server's.
net::awaitable<result<host_port, redis_error>> redis_connector::ask_sentinel(const host_port& at, time_limit by) {
    auto line = co_await open(at, by);
    if (!line) co_return line.error();
    const std::vector<std::string> question{"SENTINEL", "GET-MASTER-ADDR-BY-NAME", config_.sentinel_master};
    auto answer = co_await (*line)->call(question, by);
    if (!answer && says(answer.error(), "NOAUTH")) {
        auto refused = co_await authenticate(**line, by);
        if (refused) {
            close(**line);
            co_return std::move(*refused);
        }
        answer = co_await (*line)->call(question, by);
    }
    close(**line);
    if (!answer) co_return answer.error();
    auto master = sentinel_master(**answer);
    if (!master) co_return redis_error{.text = "it knows no master '" + config_.sentinel_master + "'"};
    co_return std::move(*master);
}

net::awaitable<result<host_port, redis_error>> redis_connector::find_master(time_limit by) {
    const auto& all = config_.sentinel_addresses;
    const std::size_t first = sentinel_;
    redis_error last;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const host_port& at = all[(first + i) % all.size()];
        const time_limit until = part_of(by, all.size() - i);
        auto master = co_await ask_sentinel(at, until);
        sentinel_ = first + i;
        if (master) co_return std::move(*master);
        last = at_sentinel(at, master.error());
    }
    co_return last;
}

}  // namespace seriesgate
