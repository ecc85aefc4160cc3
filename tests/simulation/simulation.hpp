/// A gate and its peers in the test's process, by the test's clock.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "process/process.hpp"
#include "simulation/http_peer.hpp"
#include "simulation/memory_network.hpp"
#include "simulation/virtual_time.hpp"

namespace seriesgate::testing {

/// Time, network, log and chance of one history. The whole of it runs in the test's thread; the same steps and the same
/// seed give the same history. One at a time.
class simulation {
  public:
    virtual_time time;
    memory_network network{};
    net::io_context peers{1};  ///< of senders and stores
    std::string said{};        ///< lines of the log

    explicit simulation(std::uint64_t seed = 1, std::chrono::system_clock::time_point begins = virtual_time::noon);
    simulation(const simulation&) = delete;
    simulation& operator=(const simulation&) = delete;
    ~simulation();

    /// Makes a gate and has it serve. It listens at 127.0.0.1:9201, has one worker, and forwards to 10.0.0.9:8428,
    /// unless the configuration says otherwise. Throws std::runtime_error with its mistakes.
    void start_gate(const std::string& yaml);
    /// The same with settings that were read, and without waiting until it is ready. @param read_again for reloads.
    void start_gate(std::unique_ptr<load_outcome> loaded, const command_line& asked,
                    std::function<load_outcome()> read_again);
    /// The next reload reads this.
    void read_next(const std::string& yaml) { yaml_ = yaml; }
    /// As SIGTERM; waits for its end. @return whether it came within so much time.
    bool stop_gate(std::chrono::seconds limit = std::chrono::seconds{60});
    /// As SIGKILL: nothing is saved, and all connections break.
    void kill_gate();
    [[nodiscard]] process& gate() { return *gate_; }
    [[nodiscard]] bool has_gate() const noexcept { return gate_ != nullptr; }

    [[nodiscard]] http_sender sender(std::string address = "10.1.1.1") { return {network, peers, std::move(address)}; }

    /// Runs a coroutine of a peer to its end. Throws std::runtime_error if that takes longer than the limit.
    template <class Result>
    Result run(net::awaitable<Result> work, std::chrono::seconds limit = std::chrono::minutes{10}) {
        std::optional<Result> got;
        start(std::move(work), got);
        if (!time.run_until([&] { return got.has_value(); }, limit)) throw std::runtime_error("a peer waits in vain");
        return std::move(*got);
    }
    /// Starts it and goes on: `got` has the result in the end, and outlives that.
    template <class Result>
    void start(net::awaitable<Result> work, std::optional<Result>& got) {
        net::co_spawn(peers, std::move(work), [&got](const std::exception_ptr& error, Result made) {
            if (error) std::rethrow_exception(error);
            got.emplace(std::move(made));
        });
    }

    /// A GET on a connection of its own.
    http_answer ask(std::string target);
    /// A POST of one request on a connection of its own.
    http_answer post(http_message message);

  private:
    std::mt19937_64 chance_;
    log::line_sink sink_;
    std::string yaml_;
    std::vector<net::io_context*> gate_loops_;
    std::unique_ptr<load_outcome> loaded_;  // outlives the gate
    std::unique_ptr<process> gate_;
};

}  // namespace seriesgate::testing
