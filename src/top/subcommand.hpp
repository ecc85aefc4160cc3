/// Command lines of subcommands that ask a server, and the flags that these share.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

struct subcommand {
    std::string name;  ///< `top`
    std::string purpose;
    std::string footer;
    std::vector<flag_about> flags;  ///< besides --help and those of client_options
    client_options access{};        ///< what applies where no flag says otherwise
};

/// `access` is valid but for the address.
struct subcommand_line : parsed_flags {
    client_options access;
};

/// @param argv with the subcommand as its first argument
subcommand_line parse_subcommand(const subcommand& of, int argc, const char* const* argv);

/// One of three cases: `error` is set (print it, exit 1), `print` is set (print it to stdout, exit 0), or `asked` is
/// valid.
template <class Options>
struct parsed_subcommand {
    std::string error;
    std::string print;
    Options asked;
};

/// @param take reads the values of the subcommand's own flags into options with valid access. @return the error.
template <class Options>
parsed_subcommand<Options> parse_subcommand(const subcommand& of, int argc, const char* const* argv,
                                            std::string (*take)(const subcommand_line&, Options&)) {
    subcommand_line line = parse_subcommand(of, argc, argv);
    parsed_subcommand<Options> result{.error = std::move(line.error), .print = std::move(line.print), .asked = {}};
    if (!result.error.empty() || !result.print.empty()) return result;
    static_cast<client_options&>(result.asked) = std::move(line.access);
    result.error = take(line, result.asked);
    return result;
}

/// Whether the first argument is this subcommand.
bool is_subcommand(std::string_view name, int argc, const char* const* argv);

/// Parses a URL into `to`. @return the error, without secrets of the URL; empty on success.
std::string parse_gate_url(const std::string& url, server_address& to);

}  // namespace seriesgate::top
