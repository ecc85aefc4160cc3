#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

/// Where the Valkey or Redis is that gates share their budgets through, and how one gets in.
namespace seriesgate {

/// How a store proves who it is, and we to it. Paths of PEM files.
struct store_tls_config {
    std::string ca_file;      ///< empty: the system's authorities
    std::string cert_file;    ///< ours; empty: none
    std::string key_file;     ///< belongs to cert_file
    std::string server_name;  ///< that the certificate has to have; empty: the URL's host

    bool operator==(const store_tls_config&) const = default;
};

struct host_port {
    std::string host;        ///< IPv4 or IPv6 address (without brackets) or a name
    std::uint16_t port = 0;  ///< never 0 once it has been read

    bool operator==(const host_port&) const = default;
};

struct redis_config {
    std::string host{};         ///< empty with a unix socket, and with sentinels
    std::uint16_t port = 6379;  ///< with TLS, too
    std::string unix_path{};    ///< in place of host and port
    bool tls = false;           ///< rediss://, for sentinels and all nodes of a cluster alike
    unsigned database = 0;
    std::string username{};       ///< empty: the server's default user
    std::string password_file{};  ///< empty: none; a password in a URL would stand in ps and in logs
    std::string sentinel_master{};
    std::vector<host_port> sentinel_addresses{};  ///< asked where the master is, in place of the URL's host
    bool cluster = false;  ///< follow MOVED and ASK; the URL's host is the first node that is asked
    store_tls_config tls_files{};
    std::chrono::milliseconds timeout{200};  ///< for the answer to one command

    bool operator==(const redis_config&) const = default;
};

}  // namespace seriesgate
