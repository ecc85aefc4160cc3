/// Real servers, each a process of its own with a folder of its own.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "config/redis_config.hpp"
#include "net/async.hpp"
#include "net/socket.hpp"
#include "support/files.hpp"

extern char** environ;

namespace seriesgate::testing {

/// A program, which is killed with this object.
class process {
    pid_t id_ = -1;

  public:
    /// @param log what it writes goes there
    process(const std::vector<std::string>& command, const std::filesystem::path& log) {
        std::vector<char*> arguments;
        for (const std::string& each : command) arguments.push_back(const_cast<char*>(each.c_str()));
        arguments.push_back(nullptr);
        posix_spawn_file_actions_t files;
        posix_spawn_file_actions_init(&files);
        posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
        posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
        const int failed = ::posix_spawnp(&id_, arguments[0], &files, nullptr, arguments.data(), environ);
        posix_spawn_file_actions_destroy(&files);
        if (failed != 0) throw std::runtime_error("cannot start " + command[0]);
    }
    process(const process&) = delete;
    process& operator=(const process&) = delete;
    ~process() { kill(); }

    void tell(int signal) const { ::kill(id_, signal); }
    /// False once it has ended of itself.
    bool is_running() {
        if (id_ > 0 && ::waitpid(id_, nullptr, WNOHANG) == id_) id_ = -1;
        return id_ > 0;
    }
    void kill() {
        if (id_ <= 0) return;
        ::kill(id_, SIGKILL);
        ::waitpid(std::exchange(id_, -1), nullptr, 0);
    }
};

/// The program that tests are to start: SERIESGATE_REDIS_SERVER, or the one in PATH.
inline std::string server_program() {
    const char* const named = std::getenv("SERIESGATE_REDIS_SERVER");
    return named != nullptr ? named : "redis-server";
}

inline bool can_bind(std::uint16_t port) {
    net::io_context io;
    stream_socket socket{io};
    const auto where = tcp_endpoint(net::ip::address_v4::loopback(), port);
    error_code error;
    socket.open(where.protocol());
    socket.set_option(net::socket_base::reuse_address{true});
    socket.bind(where, error);
    return !error;
}

/// One that is free, below those that the system gives to whoever connects, and so is the one 10,000 above it, which
/// nodes of a cluster speak with each other at.
inline std::uint16_t free_port() {
    static unsigned next = static_cast<unsigned>(::getpid()) * 37;
    for (int tries = 0; tries < 1000; ++tries) {
        const auto port = static_cast<std::uint16_t>(12000 + next++ % 10000);
        if (can_bind(port) && can_bind(static_cast<std::uint16_t>(port + 10000))) return port;
    }
    throw std::runtime_error("no free port");
}

inline bool accepts(const stream_endpoint& at) {
    net::io_context io;
    stream_socket socket{io};
    error_code error;
    socket.connect(at, error);
    return !error;
}

/// What a server is to be told.
struct server_wish {
    std::vector<std::string> arguments{};
    std::string port_option = "--port";  ///< what its port is for: with "--tls-port" it has no other one
    std::string file{};                  ///< of its configuration, which it may write to
};

/// A Redis, or a Valkey, on 127.0.0.1 and on a unix socket. It keeps nothing unless it is told to.
class server_process {
    scratch_directory folder_;
    std::uint16_t port_ = 0;
    server_wish wish_;
    std::unique_ptr<process> running_;

  public:
    explicit server_process(server_wish wish) : wish_(std::move(wish)) {
        for (int tries = 0; tries < 3; ++tries) {  // somebody may take the port before it does
            port_ = free_port();
            if (start()) return;
        }
        throw std::runtime_error("no server: " + read_file(folder_ / "log"));
    }
    explicit server_process(std::vector<std::string> arguments = {})
        : server_process(server_wish{.arguments = std::move(arguments)}) {}

    /// @param further arguments, for this time
    /// @return whether it is there, and can be connected to
    bool start(const std::vector<std::string>& further = {}) {
        std::vector<std::string> arguments{server_program()};
        const auto add = [&arguments](const std::vector<std::string>& more) {
            arguments.insert(arguments.end(), more.begin(), more.end());
        };
        if (!wish_.file.empty()) {
            write_file(folder_ / "conf", wish_.file);
            add({(folder_ / "conf").string()});
        }
        add({"--bind", "127.0.0.1", "--unixsocket", socket(), "--dir", (folder_ / "").string(), "--daemonize", "no"});
        add({"--save", ""});
        if (wish_.port_option != "--port") add({"--port", "0"});
        add({wish_.port_option, std::to_string(port_)});
        add(wish_.arguments);
        add(further);
        std::filesystem::remove(socket());
        running_ = std::make_unique<process>(arguments, folder_ / "log");
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{20};
        const auto at_port = tcp_endpoint(net::ip::address_v4::loopback(), port_);
        while (!accepts(unix_endpoint(socket())) || !accepts(at_port)) {
            if (!running_->is_running() || std::chrono::steady_clock::now() > end) return false;
            std::this_thread::sleep_for(std::chrono::milliseconds{5});
        }
        return true;
    }
    void kill() { running_.reset(); }
    void tell(int signal) const { running_->tell(signal); }

    [[nodiscard]] std::uint16_t port() const { return port_; }
    [[nodiscard]] std::string socket() const { return (folder_ / "redis.sock").string(); }
    [[nodiscard]] redis_config at_port() const { return {.host = "127.0.0.1", .port = port_}; }
    [[nodiscard]] redis_config at_socket() const { return {.unix_path = socket()}; }
};

}  // namespace seriesgate::testing
