/// `seriesgate top`: what its command line says.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "core/secret_text.hpp"

namespace seriesgate::top {

/// Where the gate is, for people: `admin.listen` where there is one.
struct gate_address {
    bool tls = false;
    std::string host{};       ///< IPv4 or IPv6 address without brackets, or a name
    std::uint16_t port = 0;   ///< 80, or 443 with TLS, when the URL names none
    std::string unix_path{};  ///< in place of host and port
    std::string authority{};  ///< the Host header
    std::string prefix{};     ///< of all paths, as a proxy in front may want it: empty or `/gate`
};

struct options {
    std::string url = "http://127.0.0.1:9201";
    gate_address at{};
    std::string agent = "seriesgate-top";  ///< who asks, to proxies on the way
    std::string username{};
    std::string password_file{};
    std::string bearer_token_file{};
    std::string ca_file{};
    bool any_server = false;  ///< --insecure-skip-verify
    std::chrono::milliseconds interval{2000};
    bool once = false;
};

/// Exactly one of three cases: `error` is set (print it, exit 1), `print` is set (print it to stdout, exit 0), or the
/// gate is to be asked as `asked` says.
struct command_line {
    std::string error;  ///< one line, without the program's name
    std::string print;
    options asked;
};

/// Whether the arguments are for parse_command_line() below: `top` is the first.
bool is_asked_for(int argc, const char* const* argv);

/// Does not throw on any arguments.
command_line parse_command_line(int argc, const char* const* argv);

/// @return what is wrong with a URL, in words that name no secret it may hold; or nothing, and then `to` is where it
/// leads.
std::string parse_gate_url(const std::string& url, gate_address& to);

}  // namespace seriesgate::top
