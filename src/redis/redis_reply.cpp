#include "redis/redis_reply.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <new>
#include <utility>

#include "core/text.hpp"

namespace seriesgate {
namespace {

using kind = redis_error::kind;

constexpr std::array<std::pair<std::string_view, kind>, 12> kinds{{
    {"LOADING", kind::busy},
    {"BUSY", kind::busy},
    {"TRYAGAIN", kind::busy},
    {"CLUSTERDOWN", kind::busy},
    {"MASTERDOWN", kind::busy},
    {"NOREPLICAS", kind::busy},
    {"READONLY", kind::read_only},
    {"OOM", kind::out_of_memory},
    {"NOAUTH", kind::denied},
    {"WRONGPASS", kind::denied},
    {"NOPERM", kind::denied},
    {"DENIED", kind::denied},
}};

std::string_view first_word(std::string_view text) noexcept {
    return text.substr(0, text.find(' '));
}

/// Redis 6: "ERR Error running script (call to f_…): @user_script:1: @user_script: 1: -OOM command not allowed".
std::string_view error_code_in(std::string_view line) noexcept {
    constexpr std::string_view inner_mark = ": -";
    if (!line.starts_with("ERR Error running script")) return first_word(line);
    const auto at = line.find(inner_mark);
    return first_word(at == std::string_view::npos ? line : line.substr(at + inner_mark.size()));
}

}  // namespace

std::string_view name_of(kind from) noexcept {
    constexpr std::array<std::string_view, static_cast<std::size_t>(kind::count_)> names{
        "unreachable", "timeout", "protocol", "busy", "read_only", "out_of_memory", "denied", "other"};
    return names[static_cast<std::size_t>(from)];
}

redis_error error_of_reply(std::string_view line) {
    const std::string_view code = error_code_in(line);
    const std::string repaired = repaired_utf8(line.substr(0, redis_error_bytes_max));  // U+FFFD has three bytes
    const std::string shown = one_line(without_middle(repaired, {.head = redis_error_bytes_max, .tail = 0}, ""));
    if (line.starts_with("ERR max number of clients")) return {.why = kind::busy, .text = shown};
    const auto* const found = std::ranges::find(kinds, code, &std::pair<std::string_view, kind>::first);
    return {.why = found == kinds.end() ? kind::other : found->second, .text = shown};
}

bool says(const redis_error& error, std::string_view code) noexcept {
    return first_word(error.text) == code;
}

namespace {

/// The functions of hiredis, which it does not export.
const redisReplyObjectFunctions& usual_functions() {
    static const redisReplyObjectFunctions found = [] {
        redisReader* const reader = redisReaderCreate();
        if (reader == nullptr) throw std::bad_alloc{};
        const redisReplyObjectFunctions functions = *reader->fn;
        redisReaderFree(reader);
        return functions;
    }();
    return found;
}

std::size_t depth_of(const redisReadTask* task) {
    std::size_t depth = 1;
    for (; task->parent != nullptr; task = task->parent) ++depth;
    return depth;
}

/// hiredis 0.14 trusts any count and allocates for it; 1.0 counts in std::size_t.
template <class Count>
void* bounded_array(const redisReadTask* task, Count elements) {
    auto& seen = *static_cast<reply_shape*>(task->privdata);
    seen.elements += static_cast<std::size_t>(elements);
    seen.is_too_deep = depth_of(task) > reply_reader::depth_max;
    if (seen.is_too_deep || seen.elements > reply_reader::elements_max) return nullptr;
    return usual_functions().createArray(task, elements);
}

redisReplyObjectFunctions& bounded_functions() {
    static redisReplyObjectFunctions made = [] {
        redisReplyObjectFunctions functions = usual_functions();
        functions.createArray = bounded_array;
        return functions;
    }();
    return made;
}

}  // namespace

reply_reader::reply_reader() : reader_(redisReaderCreateWithFunctions(&bounded_functions())) {
    if (!reader_) throw std::bad_alloc{};
    reader_->privdata = &shape_;
}

void reply_reader::take(std::string_view bytes) {
    if (!fault_.empty()) return;
    bytes_ += bytes.size();
    if (redisReaderFeed(reader_.get(), bytes.data(), bytes.size()) != REDIS_OK) fault_ = reader_->errstr;
}

std::string_view reply_reader::unread() const noexcept {
    return {reader_->buf + reader_->pos, reader_->len - reader_->pos};
}

redis_reply reply_reader::next() {
    if (!fault_.empty()) return nullptr;
    void* reply = nullptr;
    const bool is_good = redisReaderGetReply(reader_.get(), &reply) == REDIS_OK;
    if (reply != nullptr) {
        shape_ = {};
        bytes_ = unread().size();
        return redis_reply{static_cast<redisReply*>(reply)};
    }
    if (!is_good)
        fault_ = shape_.is_too_deep               ? "a reply that is nested too deep"
                 : shape_.elements > elements_max ? "a reply of too many elements"
                                                  : reader_->errstr;
    else if (bytes_ > bytes_max)
        fault_ = "a reply of more than 16 MiB";
    else if (unread().size() > line_bytes_max &&
             unread().substr(0, line_bytes_max).find("\r\n") == std::string_view::npos)
        fault_ = "a line of more than 64 KiB";
    return nullptr;
}

namespace {

std::optional<std::uint16_t> port_in(std::string_view text) noexcept {
    const auto port = whole_number<std::uint16_t>(text);
    return port == 0 ? std::nullopt : port;
}

std::optional<std::uint16_t> port_in(const redisReply& reply) noexcept {
    if (reply.type != REDIS_REPLY_INTEGER || reply.integer <= 0 || reply.integer > 0xffff) return std::nullopt;
    return static_cast<std::uint16_t>(reply.integer);
}

bool is_array(const redisReply& reply, std::size_t elements_min) noexcept {
    return reply.type == REDIS_REPLY_ARRAY && reply.elements >= elements_min;
}

/// An element of CLUSTER SLOTS: first slot, last slot, then one element for each node.
void add_nodes(const redisReply& slots, const host_port& asked, std::vector<host_port>& to) {
    for (std::size_t i = 2; is_array(slots, i + 1) && to.size() < cluster_nodes_max; ++i) {
        const redisReply& node = *slots.element[i];
        if (!is_array(node, 2)) continue;
        const std::string_view host = text_of(*node.element[0]);
        const auto port = port_in(*node.element[1]);
        if (!port || host == "?") continue;  // Redis 7: the node lacks its configured name
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
