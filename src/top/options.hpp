/// The command line of `seriesgate top`.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace seriesgate::top {

/// The gate's address: that of `admin.listen` if it is set.
struct gate_address {
    bool tls = false;
    std::string host{};       ///< IPv4 or IPv6 address without brackets, or a name
    std::uint16_t port = 0;   ///< 80, or 443 with TLS, if the URL names none
    std::string unix_path{};  ///< replaces host and port
    std::string authority{};
    std::string prefix{};  ///< of all paths, as a proxy may require: empty or `/gate`
};

struct options {
    std::string url = "http://127.0.0.1:9201";
    gate_address at{};
    std::string agent = "seriesgate-top";  ///< User-Agent, for proxies on the way
    std::string username{};
    std::string password_file{};
    std::string bearer_token_file{};
    std::string ca_file{};
    bool any_server = false;
    std::chrono::milliseconds interval{2000};
    bool once = false;
};

/// One of three cases: `error` is set (print it, exit 1), `print` is set (print it to stdout, exit 0), or `asked` is
/// valid.
struct command_line {
    std::string error;  ///< one line, without the program's name
    std::string print;
    options asked;
};

/// Whether the first argument is `top`, so that parse_command_line() below applies.
bool is_asked_for(int argc, const char* const* argv);

command_line parse_command_line(int argc, const char* const* argv);

/// Parses a URL into `to`. @return the error, without secrets of the URL; empty on success.
std::string parse_gate_url(const std::string& url, gate_address& to);

}  // namespace seriesgate::top
