/// The new gate's side of a takeover.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "process/inherited_sockets.hpp"
#include "process/takeover_protocol.hpp"

namespace seriesgate {

/// Takes over from a running gate. Errors are std::runtime_error with one readable line. After an error, or if
/// destroyed before serve(), the running gate continues. Each step waits for a bounded time. Threads: one.
class takeover_client {
    message_socket other_;

  public:
    /// @return nothing if no gate runs.
    [[nodiscard]] static std::optional<takeover_client> of_gate_at(const std::string& path);

    /// The listening sockets of the running gate.
    [[nodiscard]] std::vector<given_socket> ask_for_sockets();

    /// Makes the running gate finish requests, close connections, save and unlock its state. Accept only after serve().
    void take();

    /// Call it while loading; does not wait. Throws if the running gate has lost patience.
    /// @return whether it has died, so that only this process serves.
    [[nodiscard]] bool look();

    /// Call it after loading. On return the running gate no longer serves, in any case.
    void serve();

  private:
    explicit takeover_client(message_socket other) noexcept : other_(std::move(other)) {}
    void say(std::string_view word);
    [[noreturn]] void not_heard(error_code error);
    /// Whether it has ended without a message. A gate that continues sends one first.
    [[nodiscard]] bool has_died() const noexcept;
    [[nodiscard]] message hear(std::chrono::steady_clock::duration limit);
};

}  // namespace seriesgate
