/// The side of the new gate, when one takes another's place.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "process/inherited_sockets.hpp"
#include "process/takeover_protocol.hpp"

namespace seriesgate {

/// Takes the place of a gate that runs. What goes wrong is thrown as std::runtime_error with one readable line, and
/// then the other goes on as before; so it does when this is destroyed before it serves. Each step waits, for a bounded
/// time. Threads: one.
class takeover_client {
    message_socket other_;

  public:
    /// @return nothing if no gate runs there.
    [[nodiscard]] static std::optional<takeover_client> of_gate_at(const std::string& path);

    /// The sockets that the other accepts from.
    [[nodiscard]] std::vector<given_socket> ask_for_sockets();

    /// Has the other finish its requests, close its connections, save its state, and free its lock. Nothing may be
    /// accepted before serve().
    void take();

    /// While it is loaded: throws if the other has lost patience. Waits for nothing.
    /// @return whether it has died: then nobody serves but this process.
    [[nodiscard]] bool look();

    /// All of it has been loaded. When this returns, the other one serves no more, whatever happens.
    void serve();

  private:
    explicit takeover_client(message_socket other) noexcept : other_(std::move(other)) {}
    void say(std::string_view word);
    [[noreturn]] void not_heard(error_code error);
    /// Whether it has ended without a word: one that goes on says so first.
    [[nodiscard]] bool has_died() const noexcept;
    [[nodiscard]] message hear(std::chrono::steady_clock::duration limit);
};

}  // namespace seriesgate
