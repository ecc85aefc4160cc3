/// HTTP client of a gate or a store, and the requests for all figures of a frame.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "core/result.hpp"
#include "net/async.hpp"
#include "net/socket.hpp"
#include "net/timed_stream.hpp"
#include "net/tls_context.hpp"
#include "top/figures.hpp"
#include "top/subcommand.hpp"

namespace seriesgate::top {

struct answer {
    unsigned status = 0;
    std::string body;
};

/// One connection, kept between requests and replaced when it breaks. Threads: that of its io_context.
class gate_client {
  public:
    using outcome = result<answer, std::string>;

    /// Far more than the bounded answers of a gate.
    static constexpr std::size_t answer_bytes_max = 8U << 20;

    /// Reads secrets and certificates from files. Throws std::runtime_error with one line that names the flag.
    /// @param asked must outlive it.
    gate_client(net::io_context& io, const client_options& asked);

    /// @param target path and query, without the URL's prefix
    /// @return the answer with any status, or the error as a sentence.
    net::awaitable<outcome> get(const std::string& target);

    [[nodiscard]] bool has_credentials() const noexcept { return !authorization_.empty(); }

  private:
    using time_limit = std::chrono::steady_clock::time_point;
    struct attempt {
        std::optional<answer> got;
        std::string fault;     // the error
        bool unheard = false;  // no answer arrived: a kept connection may have been too old
    };

    net::io_context& io_;
    const client_options& asked_;
    std::string authorization_;
    std::shared_ptr<const tls_context> tls_;
    std::optional<timed_stream> stream_;

    net::awaitable<std::string> connect(time_limit limit);
    net::awaitable<attempt> exchange(const std::string& target, time_limit limit);
};

/// Runs the io_context until the question is answered; time limits that are left over count no more. Throws what the
/// coroutine throws, so that no answer is not taken for a good one.
void run_to_end(net::io_context& io, net::awaitable<void> asking);

// --- The figures of a frame.

/// @param lines_max of each list
/// @return the figures, or the error as a sentence, which may contain any text of the server.
net::awaitable<result<figures, std::string>> ask(gate_client& gate, question asked, std::size_t lines_max);

}  // namespace seriesgate::top
