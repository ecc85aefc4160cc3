/// TLS over a timed_socket. OpenSSL's and Asio's headers for it stay in tls.cpp; a program that makes no TLS layer is
/// linked without OpenSSL.
#pragma once

#include <boost/asio/buffer.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "net/erased_handler.hpp"
#include "net/timed_socket.hpp"

namespace seriesgate {

enum class tls_role : std::uint8_t { client, server };

/// What the connections of one side have in common: certificates and whom to trust. TLS 1.2 at least.
/// Functions throw boost::system::system_error for what cannot be read. Threads: any, once it has been set up.
class tls_context {
  public:
    struct state;  ///< OpenSSL's

  private:
    std::unique_ptr<state> state_;

  public:
    /// A client trusts the system's authorities until it is told others.
    explicit tls_context(tls_role role);
    tls_context(tls_context&&) noexcept;
    tls_context& operator=(tls_context&&) noexcept;
    ~tls_context();

    /// Certificate chain and private key, in PEM.
    void use_certificate(const std::string& chain, const std::string& key);
    /// Authorities to trust in place of the system's, in PEM.
    void trust(const std::string& authorities);

    [[nodiscard]] state& own() noexcept { return *state_; }
};

/// One connection's TLS. Every socket operation of it has the socket's time limit, so it has the same contract; but
/// when a write, a handshake or a shutdown has not been completed, part of a record may have gone: nothing can be
/// written from then on. Operations of one kind come one after the other; handshake and shutdown are of both kinds. An
/// operation allocates. Threads: the socket's. It must outlive its operations.
class tls_layer {
  public:
    tls_layer() = default;
    tls_layer(const tls_layer&) = delete;
    tls_layer& operator=(const tls_layer&) = delete;
    virtual ~tls_layer() = default;

    virtual void handshake(erased_handler handler) = 0;
    virtual void read_some(net::mutable_buffer into, erased_handler handler) = 0;

    /// Where what is to be written next is put: a header's many small pieces make one record.
    [[nodiscard]] virtual net::mutable_buffer record() noexcept = 0;
    /// Writes the first `bytes` of record().
    virtual void write_record(std::size_t bytes, erased_handler handler) = 0;

    /// Says that nothing more will be sent, and waits for the peer to say so, too.
    virtual void shutdown(erased_handler handler) = 0;

    /// Whether nothing has been read of the socket that was not given on.
    [[nodiscard]] virtual bool is_drained() const noexcept = 0;
};

/// @param peer_name for a client: whom the server must prove to be; also sent as the server's name.
[[nodiscard]] std::unique_ptr<tls_layer> make_tls_layer(timed_socket& socket, tls_context& context,
                                                        const std::string& peer_name);

}  // namespace seriesgate
