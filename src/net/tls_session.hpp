/// TLS of one connection over memory: bytes in, bytes out, without a socket and without OpenSSL's headers.
#pragma once

#include <boost/asio/buffer.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include "net/async.hpp"
#include "net/tls_context.hpp"

struct ssl_st;

namespace seriesgate {

// --- The session.

enum class tls_step : std::uint8_t {
    done,
    wants_input,  ///< pass the peer's bytes, then repeat the step
    closed,       ///< the peer has sent close_notify
    failed,       ///< for good; failure() has the reason
};

/// TLS of one connection. Never waits and knows no socket, so a connection can move to another thread at any time.
/// After each step, even a failed one, output() has the bytes to send.
///
/// Holds at most a record of 16 KiB in each direction, besides the handshake. Fails a peer that sends much without data
/// (key changes, warnings, empty records). Threads: one at a time.
class tls_session {
  public:
    struct state;

    struct read_outcome {
        tls_step step;
        std::size_t bytes;  ///< of plain text; only if done
    };

    /// @param peer_name for a client: name or IP address that the server must prove; a name is also sent to it (SNI).
    /// Throws boost::system::system_error for an impossible name.
    explicit tls_session(std::shared_ptr<const tls_context> context, const std::string& peer_name = {});
    ~tls_session();

    [[nodiscard]] tls_step handshake();
    [[nodiscard]] read_outcome read(net::mutable_buffer into);
    /// @param plain 1 to record_bytes_max bytes. Never wants input.
    [[nodiscard]] tls_step write(net::const_buffer plain);
    void close();

    /// After wants_input: the room for the peer's bytes (empty if memory runs out), and the number received.
    [[nodiscard]] net::mutable_buffer input_room();
    void take_input(std::size_t bytes) noexcept;

    /// The bytes to send next; empty if there are none. They stay valid until all are sent, whatever else happens.
    [[nodiscard]] net::const_buffer output();
    void sent_output(std::size_t bytes) noexcept;

    /// Whether there is no unread data. Reads no plain text, but processes other messages.
    [[nodiscard]] bool is_drained();
    /// Frees empty buffers.
    void rest() noexcept;

    [[nodiscard]] bool is_established() const noexcept;
    /// The reason, without any text of the peer; empty without a failure.
    [[nodiscard]] const std::string& failure() const noexcept;
    /// Fails the session, since its connection has ended.
    void cut_off();

    /// The name in the peer's certificate, see net/certificate_names.hpp. Empty without a verified certificate.
    /// Only for an established session.
    [[nodiscard]] std::string peer_identity() const;

    /// OpenSSL's own object.
    [[nodiscard]] ssl_st* native() const noexcept;

    /// Most plain text in one record. Source: RFC 8446, section 5.1.
    static constexpr std::size_t record_bytes_max = 16 * 1024;

  private:
    std::unique_ptr<state> state_;
};

enum class tls_error : std::uint8_t {
    failed = 1,  ///< handshake or record failed: tls_session::failure() has the reason
    truncated,   ///< the connection ended without the peer's close_notify
};

[[nodiscard]] error_code make_error_code(tls_error from) noexcept;

}  // namespace seriesgate

template <>
struct boost::system::is_error_code_enum<seriesgate::tls_error> : std::true_type {};
