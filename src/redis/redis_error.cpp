#include "redis/redis_error.hpp"

#include <algorithm>
#include <array>
#include <utility>

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
std::string_view code_of(std::string_view line) noexcept {
    constexpr std::string_view inner_mark = ": -";
    if (!line.starts_with("ERR Error running script")) return first_word(line);
    const auto at = line.find(inner_mark);
    return first_word(at == std::string_view::npos ? line : line.substr(at + inner_mark.size()));
}

std::string one_line(std::string_view text) {
    std::string made{text.substr(0, redis_error_bytes_max)};
    std::ranges::replace_if(
        made, [](char each) { return static_cast<unsigned char>(each) < 0x20 || each == 0x7f; }, ' ');
    return made;
}

}  // namespace

std::string_view name_of(kind from) noexcept {
    constexpr std::array<std::string_view, static_cast<std::size_t>(kind::count_)> names{
        "unreachable", "timeout", "protocol", "busy", "read_only", "out_of_memory", "denied", "other"};
    return names[static_cast<std::size_t>(from)];
}

redis_error error_of_reply(std::string_view line) {
    const std::string_view code = code_of(line);
    if (line.starts_with("ERR max number of clients")) return {.why = kind::busy, .text = one_line(line)};
    const auto* const found = std::ranges::find(kinds, code, &std::pair<std::string_view, kind>::first);
    return {.why = found == kinds.end() ? kind::other : found->second, .text = one_line(line)};
}

bool says(const redis_error& error, std::string_view code) noexcept {
    return first_word(error.text) == code;
}

}  // namespace seriesgate
