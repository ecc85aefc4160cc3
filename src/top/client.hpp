/// Asks a gate over HTTP.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "net/asio.hpp"
#include "net/socket.hpp"
#include "net/timed_stream.hpp"
#include "net/tls_context.hpp"
#include "top/figures.hpp"
#include "top/options.hpp"

namespace seriesgate::top {

struct answer {
    unsigned status = 0;
    std::string body;
};

/// One connection, kept between questions and made anew when it has broken. Threads: the one of its io_context.
class gate_client {
  public:
    using outcome = result<answer, std::string>;

    /// No answer of a gate with bounded figures comes near it.
    static constexpr std::size_t answer_bytes_max = 8U << 20;
    /// For one question, connecting included.
    static constexpr std::chrono::seconds answer_limit{5};

    /// Reads the files that hold secrets and certificates. Throws std::runtime_error with one line that names the flag.
    /// @param asked must outlive it.
    gate_client(net::io_context& io, const options& asked);

    /// @param target path and query, without the URL's prefix
    /// @return the answer, whatever its status; or why there is none, in a sentence.
    net::awaitable<outcome> get(const std::string& target);

    /// Whether it says who asks.
    [[nodiscard]] bool has_credentials() const noexcept { return !authorization_.empty(); }

  private:
    using time_limit = std::chrono::steady_clock::time_point;
    struct attempt {
        std::optional<answer> got;
        std::string fault;     // why there is none
        bool unheard = false;  // nothing came of it: a kept connection may just have been too old
    };

    net::io_context& io_;
    const options& asked_;
    std::string authorization_;
    std::shared_ptr<const tls_context> tls_;
    std::shared_ptr<name_resolver> resolver_;
    std::optional<timed_stream> stream_;

    net::awaitable<std::string> connect(time_limit limit);
    net::awaitable<std::string> connect_to(const stream_endpoint& to, time_limit limit);
    net::awaitable<result<std::vector<stream_endpoint>, std::string>> addresses(time_limit limit);
    net::awaitable<attempt> exchange(const std::string& target, time_limit limit);
};

}  // namespace seriesgate::top

// All that a frame needs, from a gate.

namespace seriesgate::top {

/// @param lines_max of each list
/// @return what the gate says, or why not: one sentence, which may hold anything that the server chose.
net::awaitable<result<figures, std::string>> ask(gate_client& gate, question asked, std::size_t lines_max);

}  // namespace seriesgate::top
