/// Senders and stores as a test scripts them, on a network in memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/async.hpp"
#include "net/timed_stream.hpp"
#include "simulation/memory_network.hpp"

namespace seriesgate::testing {

using header_list = std::vector<std::pair<std::string, std::string>>;

/// What came back; status 0: nothing did, and why says `fault`.
struct http_answer {
    unsigned status = 0;
    header_list headers{};
    std::string body{};
    error_code fault{};

    /// Empty if there is none.
    [[nodiscard]] std::string_view header(std::string_view name) const;
};

struct http_message {
    std::string method = "POST";
    std::string target = "/api/v1/write";
    header_list headers{};
    std::string body{};

    [[nodiscard]] std::string_view header(std::string_view name) const;
    /// As it goes over the wire, with Host and Content-Length.
    [[nodiscard]] std::string text() const;
};

/// A request of remote write 1 with this decoded body, or a header said otherwise.
[[nodiscard]] http_message write_request(std::string_view decoded, header_list more = {});
/// The same of remote write 2.
[[nodiscard]] http_message write_request_v2(std::string_view decoded, header_list more = {});
[[nodiscard]] http_message get(std::string target);

/// One connection of a sender, opened when it is needed. Threads: the test's.
class http_sender {
    memory_network& network_;
    net::io_context& io_;
    const std::string address_;
    const std::string to_;
    std::unique_ptr<timed_stream> stream_;
    std::string unread_;

  public:
    /// @param address where it connects from.
    /// @param to where it connects, "127.0.0.1:9201".
    http_sender(memory_network& network, net::io_context& io, std::string address = "10.1.1.1",
                std::string to = "127.0.0.1:9201");

    /// Sends it and reads the answer.
    net::awaitable<http_answer> send(http_message message);
    /// Sends these bytes in pieces of this size, with rests between.
    net::awaitable<error_code> write(std::string bytes, std::size_t piece = SIZE_MAX,
                                     std::chrono::milliseconds rest = {});
    net::awaitable<http_answer> read_answer();
    void close() { stream_.reset(); }
    void reset();

  private:
    net::awaitable<error_code> connect();
};

/// What a store does with a request.
struct store_reaction {
    unsigned status = 204;
    std::string body{};
    std::chrono::milliseconds delay{0};  ///< before it answers
    enum class kind : std::uint8_t {
        answers,
        closes,         ///< without an answer
        resets,         ///< the same, with an error
        closes_midway,  ///< amid the answer
        is_silent,      ///< for good
        says_raw,       ///< `body` is all that it sends
    } does = kind::answers;
    std::function<void()> has_said{};  ///< called when all that it says has been written
};

/// Listens at an address, keeps what comes, and reacts as it is told. Threads: the test's.
class scripted_store {
    net::io_context& io_;
    const std::string address_;
    std::optional<stream_acceptor> acceptor_;
    std::vector<std::weak_ptr<timed_stream>> connections_;

  public:
    std::vector<http_message> received{};                          ///< requests that came whole
    std::function<store_reaction(const http_message&)> decides{};  ///< without one it answers 204

    scripted_store(net::io_context& io, std::string address = "10.0.0.9:8428");
    /// It listens from its construction on, until it is away.
    void come_back();
    /// Refuses connections, and resets those that are open.
    void go_away();

  private:
    net::awaitable<void> accept();
    net::awaitable<void> serve(std::shared_ptr<timed_stream> stream);
    net::awaitable<bool> react(timed_stream& stream, store_reaction how);
};

/// "10.0.0.9:8428"
[[nodiscard]] stream_endpoint endpoint_of(std::string_view address_and_port);

}  // namespace seriesgate::testing
