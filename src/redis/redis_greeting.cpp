#include "redis/redis_greeting.hpp"

#include <string_view>
#include <utility>

#include "redis/server_answers.hpp"

namespace seriesgate {
namespace {

using kind = redis_error::kind;
using time_limit = std::chrono::steady_clock::time_point;

/// A server may repeat what it does not know, or a part of that.
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

}  // namespace

net::awaitable<std::optional<redis_error>> authenticate(redis_pipeline& line, const redis_config& config,
                                                        redis_shared& shared, time_limit by) {
    const std::string password = shared.password();
    if (password.empty() && config.username.empty()) co_return std::nullopt;
    std::vector<std::string> words{"AUTH"};
    if (!config.username.empty()) words.push_back(config.username);
    words.push_back(password);
    auto answer = co_await line.call(words, by);
    if (!answer) co_return not_authenticated(answer.error(), password);
    co_return std::nullopt;
}

net::awaitable<result<server_facts, redis_error>> greet(redis_pipeline& line, const host_port& at,
                                                        const redis_config& config, redis_shared& shared,
                                                        time_limit by) {
    auto failed = co_await authenticate(line, config, shared, by);
    if (failed) co_return std::move(*failed);
    if (config.database != 0) {
        const std::vector<std::string> select{"SELECT", std::to_string(config.database)};
        auto selected = co_await line.call(select, by);
        if (!selected) co_return in_command("SELECT", selected.error());
    }
    const std::vector<std::string> ask_info{"INFO", "server"};
    auto info = co_await line.call(ask_info, by);
    if (!info) co_return in_command("INFO", info.error());
    server_facts facts{.run_id = std::string{info_field(text_of(**info), "run_id")}, .nodes = {}};
    if (!config.sentinel_addresses.empty()) {
        const std::vector<std::string> ask_role{"ROLE"};
        auto role = co_await line.call(ask_role, by);
        if (!role) co_return in_command("ROLE", role.error());
        if (role_in(**role) != "master")
            co_return redis_error{.why = kind::read_only,
                                  .text = "ROLE: the server that the sentinels name is no master"};
    }
    if (config.cluster) {
        const std::vector<std::string> ask_slots{"CLUSTER", "SLOTS"};
        auto slots = co_await line.call(ask_slots, by);
        if (!slots) co_return in_command("CLUSTER SLOTS", slots.error());
        facts.nodes = cluster_nodes(**slots, at);
    }
    co_return facts;
}

}  // namespace seriesgate
