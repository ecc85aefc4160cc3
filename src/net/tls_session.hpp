/// How TLS ends, apart from how its socket does.
#pragma once

#include <boost/asio/buffer.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#include "net/asio.hpp"
#include "net/tls_context.hpp"

namespace seriesgate {

// --- TLS of one connection, apart from its socket: bytes in, bytes out. OpenSSL's headers stay out of here.

/// What came of one step.
enum class tls_step : std::uint8_t {
    done,
    wants_input,  ///< give it what the peer has sent, and ask again
    closed,       ///< the peer has said that nothing more comes
    failed,       ///< for good; failure() says why
};

/// One connection's TLS over memory. It waits for nothing and knows no socket, so a connection can go to another thread
/// with it in the middle. What it has to send is in output() after each step, also after one that failed.
///
/// Holds at most a record of 16 KiB in each direction beyond what a handshake needs; a peer that sends much and says
/// nothing with it (key changes, warnings, empty records) fails. Threads: one at a time.
class tls_session {
  public:
    struct state;  ///< OpenSSL's

    struct read_outcome {
        tls_step step;
        std::size_t bytes;  ///< of plain text, only when it is done
    };

    /// @param peer_name for a client: the name or IP address that the server must prove; a name is also sent to it.
    /// Throws boost::system::system_error for a name that can be none.
    explicit tls_session(std::shared_ptr<const tls_context> context, const std::string& peer_name = {});
    tls_session(const tls_session&) = delete;
    tls_session& operator=(const tls_session&) = delete;
    ~tls_session();

    [[nodiscard]] tls_step handshake();
    /// @param into not empty
    [[nodiscard]] read_outcome read(net::mutable_buffer into);
    /// @param plain at most record_bytes_max, and not empty. Never wants input.
    [[nodiscard]] tls_step write(net::const_buffer plain);
    /// Says that we send nothing more.
    void close();

    /// When it wants input: where the peer's bytes go (nowhere if memory runs out), and how many did.
    [[nodiscard]] net::mutable_buffer input_room();
    void take_input(std::size_t bytes) noexcept;

    /// What is to be sent next; empty if there is nothing. Stays where it is until all of it has been sent, whatever
    /// else is done meanwhile.
    [[nodiscard]] net::const_buffer output();
    void sent_output(std::size_t bytes) noexcept;

    /// Whether nothing has come that was not read. Reads no plain text, but what else has come.
    [[nodiscard]] bool is_drained();
    /// Gives back buffers that are empty.
    void rest() noexcept;

    [[nodiscard]] bool is_established() const noexcept;
    [[nodiscard]] bool has_sent_close() const noexcept;
    /// In words, without anything that the peer could choose; empty while nothing has failed.
    [[nodiscard]] const std::string& failure() const noexcept;
    /// Fails it: the connection under it has ended.
    void cut_off();

    // Of an established session:
    [[nodiscard]] tls_version version() const noexcept;
    /// "http/1.1", or nothing if the two did not choose.
    [[nodiscard]] std::string_view protocol() const noexcept;
    /// What the peer's certificate names it (see net/tls_names.hpp). Nothing without one that was verified.
    [[nodiscard]] std::string peer_identity() const;
    [[nodiscard]] bool is_resumed() const noexcept;

    /// The most plain text in one record. Source: RFC 8446, section 5.1.
    static constexpr std::size_t record_bytes_max = 16 * 1024;

  private:
    std::unique_ptr<state> state_;
};

enum class tls_error : std::uint8_t {
    failed = 1,  ///< the peer, or we, did not agree: tls_session::failure() says why
    truncated,   ///< the connection ended, and the peer had not said that it would
};

/// For error_code's own use of the enumerators.
[[nodiscard]] error_code make_error_code(tls_error from) noexcept;

}  // namespace seriesgate

template <>
struct boost::system::is_error_code_enum<seriesgate::tls_error> : std::true_type {};
