/// A network in memory, for the gate and its peers in one process.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "net/socket.hpp"

namespace seriesgate::testing {

class memory_network;

/// One end of a connection. What is written is at the other end at once, as far as there is room for it.
class memory_end final : public transport, public std::enable_shared_from_this<memory_end> {
    friend class memory_network;

    memory_network& network_;
    std::weak_ptr<memory_end> peer_;
    endpoint local_;
    endpoint remote_;
    std::string inbox_;  // come, and not read
    bool peer_sends_no_more_ = false;
    bool sends_no_more_ = false;
    bool is_reset_ = false;
    mutable bool reset_is_news_ = false;  // the first operation that meets it has the error, a look included
    bool is_open_ = true;

    struct pending_read {
        net::mutable_buffer into;
        erased_handler done;
        bool only_waits = false;
    };
    struct pending_write {
        std::string bytes;
        erased_handler done;
    };
    std::optional<pending_read> read_;
    std::optional<pending_write> write_;
    std::optional<erased_handler> connect_;

  public:
    /// What an end takes that nobody reads; writers wait beyond.
    std::size_t window = 256 * 1024;
    /// What has_unconfirmed() says.
    bool unconfirmed = false;

    memory_end(memory_network& network, endpoint local) : network_(network), local_(std::move(local)) {}
    ~memory_end() override { close(); }

    /// Breaks the connection off: both ends have an error.
    void reset();

    void connect(const endpoint& to, erased_handler done) override;
    void read_some(net::mutable_buffer into, erased_handler done) override;
    void write_some(std::string_view bytes, erased_handler done) override;
    void wait_readable(erased_handler done) override;
    std::size_t read_now(net::mutable_buffer into, error_code& error) override;
    std::size_t write_now(std::string_view bytes, error_code& error) override;
    void cancel() override;
    void close() override;
    void shutdown_send() override;
    void shutdown_both() override;
    [[nodiscard]] bool is_open() const override { return is_open_; }
    [[nodiscard]] endpoint local_endpoint() const override { return local_; }
    [[nodiscard]] endpoint remote_endpoint() const override { return remote_; }
    [[nodiscard]] bool has_unconfirmed() const override { return unconfirmed; }
    [[nodiscard]] bool is_quiet() const override {
        if (inbox_.empty()) reset_is_news_ = false;
        return is_open_ && inbox_.empty() && !peer_sends_no_more_ && !is_reset_;
    }
    [[nodiscard]] bool peer_has_ended() const override { return peer_sends_no_more_ || is_reset_; }

  private:
    void look_at_read();
    void look_at_write();
    void break_off();
    void hear_no_more();
    void complete(erased_handler done, error_code error, std::size_t bytes = 0);
};

class memory_listener final : public transport_listener {
    friend class memory_network;
    friend class memory_end;

    memory_network& network_;
    transport::endpoint at_;
    std::deque<std::shared_ptr<memory_end>> waiting_;
    struct pending {
        net::any_io_executor where;
        accepted done;
    };
    std::optional<pending> accept_;
    bool is_open_ = true;

  public:
    memory_listener(memory_network& network, transport::endpoint at) : network_(network), at_(std::move(at)) {}
    ~memory_listener() override { close(); }

    void accept(const net::any_io_executor& where, accepted done) override;
    void cancel() override;
    void close() override;
    [[nodiscard]] bool is_open() const override { return is_open_; }
    [[nodiscard]] transport::endpoint local_endpoint() const override { return at_; }

  private:
    void take(std::shared_ptr<memory_end> end);
};

/// Addresses, names, and who listens where. Its loop has to be run, as those of all peers. Threads: one.
class memory_network final : public transport_network {
    friend class memory_end;
    friend class memory_listener;

    net::io_context loop_{1};
    std::map<std::string, memory_listener*> listeners_;  // by address and port
    std::vector<std::weak_ptr<memory_end>> ends_;
    std::string source_{gate_address};
    std::uint16_t next_port_ = 40000;

  public:
    struct name {
        std::vector<std::string> addresses{};
        error_code error{};
        std::chrono::milliseconds delay{0};
        bool is_silent = false;  ///< no answer ever comes
    };
    std::map<std::string, name> names{};
    /// Addresses and ports, "10.0.0.9:8428", where a connection comes to nothing: no answer, not even a refusal.
    std::set<std::string> black_holes{};

    memory_network() { install(this); }
    memory_network(const memory_network&) = delete;
    memory_network& operator=(const memory_network&) = delete;
    ~memory_network() override { install(nullptr); }

    [[nodiscard]] net::io_context& loop() noexcept { return loop_; }
    /// Where sockets connect from that no peer makes.
    static constexpr std::string_view gate_address = "10.255.0.1";
    /// Sockets that are made from now on connect from this address.
    void connect_from(std::string address) { source_ = std::move(address); }

    /// Has what is pending handed back to the event loops of the gate, or of all: they own it when they go, as they do
    /// with sockets of the operating system.
    void give_back(bool only_of_gate);

    std::shared_ptr<transport> make_transport() override;
    std::shared_ptr<transport_listener> listen(const transport::endpoint& where) override;
    void look_up(const std::string& host, std::uint16_t port, const net::any_io_executor& where, found done) override;

  private:
    std::shared_ptr<memory_end> make_end(const transport::endpoint& local);
    std::uint16_t take_port() { return next_port_ == 65535 ? next_port_ = 40000 : next_port_++; }
};

}  // namespace seriesgate::testing
