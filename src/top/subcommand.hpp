/// Command lines of subcommands that ask a server, and the flags that these share.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "config/command_line.hpp"
#include "config/config.hpp"

namespace seriesgate::top {

/// Its target is in front of all paths, as a proxy may require: empty or `/gate`.
struct server_address : store_backend {
    std::string unix_path{};  ///< replaces host and port
};

/// The server, who asks it, and whom to believe.
struct client_options {
    std::string url{};
    server_address at{};
    std::string agent{};  ///< User-Agent, for proxies on the way
    std::string username{};
    std::string password_file{};
    std::string bearer_token_file{};
    std::string ca_file{};
    bool any_server = false;
    std::chrono::seconds answer_limit{5};  ///< for one request, including the connect
};

/// Without an error and a text to print, `access` is valid but for the address.
/// @param of its flags are those besides --help and those of client_options
/// @param argv with the subcommand as its first argument
/// @param access what applies where no flag says otherwise
parsed_flags parse_subcommand(program_about of, int argc, const char* const* argv, client_options& access);

/// One of three cases: `error` is set (print it, exit 1), `print` is set (print it to stdout, exit 0), or `asked` is
/// valid.
template <class Options>
struct parsed_subcommand : parsed_flags {
    Options asked;
};

/// @param take reads the values of the subcommand's own flags into options with valid access. @return the error.
/// @param asked what applies where no flag says otherwise
template <class Options>
parsed_subcommand<Options> parse_subcommand(program_about of, int argc, const char* const* argv,
                                            std::string (*take)(const parsed_flags&, Options&), Options asked) {
    parsed_flags given = parse_subcommand(std::move(of), argc, argv, asked);
    if (given.error.empty() && given.print.empty()) given.error = take(given, asked);
    return {std::move(given), std::move(asked)};
}

/// Whether the first argument is this subcommand.
bool is_subcommand(std::string_view name, int argc, const char* const* argv);

/// Parses a URL into `to`. @return the error, without secrets of the URL; empty on success.
std::string parse_gate_url(const std::string& url, server_address& to);

}  // namespace seriesgate::top
