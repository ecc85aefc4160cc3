#include "redis/server_answers.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <system_error>

namespace seriesgate {
namespace {

std::optional<std::uint16_t> port_in(std::string_view text) noexcept {
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    const bool is_port = error == std::errc{} && end == text.data() + text.size() && port != 0;
    return is_port ? std::optional{port} : std::nullopt;
}

std::optional<std::uint16_t> port_in(const redisReply& reply) noexcept {
    if (reply.type != REDIS_REPLY_INTEGER || reply.integer <= 0 || reply.integer > 0xffff) return std::nullopt;
    return static_cast<std::uint16_t>(reply.integer);
}

bool is_array(const redisReply& reply, std::size_t elements_min) noexcept {
    return reply.type == REDIS_REPLY_ARRAY && reply.elements >= elements_min;
}

/// An element of CLUSTER SLOTS: first slot, last slot, and then a node an element.
void add_nodes(const redisReply& slots, const host_port& asked, std::vector<host_port>& to) {
    for (std::size_t i = 2; is_array(slots, i + 1) && to.size() < cluster_nodes_max; ++i) {
        const redisReply& node = *slots.element[i];
        if (!is_array(node, 2)) continue;
        const std::string_view host = text_of(*node.element[0]);
        const auto port = port_in(*node.element[1]);
        if (!port || host == "?") continue;  // of Redis 7: a node without the name that it should have
        const host_port found{host.empty() ? asked.host : std::string{host}, *port};
        if (std::ranges::find(to, found) == to.end()) to.push_back(found);
    }
}

}  // namespace

std::string_view info_field(std::string_view info, std::string_view name) noexcept {
    while (!info.empty()) {
        const auto end = info.find('\n');
        std::string_view line = info.substr(0, end);
        info.remove_prefix(end == std::string_view::npos ? info.size() : end + 1);
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.starts_with(name) && line.substr(name.size()).starts_with(':')) return line.substr(name.size() + 1);
    }
    return {};
}

std::optional<host_port> sentinel_master(const redisReply& reply) {
    if (!is_array(reply, 2)) return std::nullopt;
    const std::string_view host = text_of(*reply.element[0]);
    const auto port = port_in(text_of(*reply.element[1]));
    if (host.empty() || !port) return std::nullopt;
    return host_port{std::string{host}, *port};
}

std::string_view role_in(const redisReply& reply) noexcept {
    return is_array(reply, 1) ? text_of(*reply.element[0]) : std::string_view{};
}

std::vector<host_port> cluster_nodes(const redisReply& reply, const host_port& asked) {
    std::vector<host_port> found;
    for (std::size_t i = 0; is_array(reply, i + 1); ++i) add_nodes(*reply.element[i], asked, found);
    return found;
}

std::optional<redirection> redirection_in(const redis_error& error, const host_port& asked) {
    const bool once = says(error, "ASK");
    if (!once && !says(error, "MOVED")) return std::nullopt;
    const std::string_view address = std::string_view{error.text}.substr(error.text.rfind(' ') + 1);
    const auto colon = address.rfind(':');
    if (colon == std::string_view::npos) return std::nullopt;
    const auto port = port_in(address.substr(colon + 1));
    const std::string_view host = address.substr(0, colon);
    if (!port || host == "?") return std::nullopt;
    return redirection{once, {host.empty() ? asked.host : std::string{host}, *port}};
}

}  // namespace seriesgate
