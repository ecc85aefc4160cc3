// Also the one that compiles Asio's own code for TLS, so that whoever makes no TLS is linked without OpenSSL.
#include "net/tls.hpp"

#include <openssl/ssl.h>

#include <array>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/impl/src.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <cassert>
#include <utility>

namespace seriesgate {
namespace {

namespace ssl = boost::asio::ssl;

/// The most plain text in one record. Source: RFC 8446, section 5.1.
constexpr std::size_t record_bytes_max = 16 * 1024;

ssl::context::method method_of(tls_role role) {
    return role == tls_role::client ? ssl::context::tls_client : ssl::context::tls_server;
}

bool is_address(const std::string& name) {
    error_code no_address;
    static_cast<void>(net::ip::make_address(name, no_address));
    return !no_address;
}

}  // namespace

struct tls_context::state {
    tls_role role;
    ssl::context ssl;

    explicit state(tls_role which) : role(which), ssl(method_of(which)) {}
};

tls_context::tls_context(tls_role role) : state_(std::make_unique<state>(role)) {
    state_->ssl.set_options(ssl::context::default_workarounds | ssl::context::no_compression | ssl::context::no_tlsv1 |
                            ssl::context::no_tlsv1_1);
    if (role == tls_role::server) return;
    state_->ssl.set_default_verify_paths();
    state_->ssl.set_verify_mode(ssl::verify_peer);
}
tls_context::tls_context(tls_context&&) noexcept = default;
tls_context& tls_context::operator=(tls_context&&) noexcept = default;
tls_context::~tls_context() = default;

void tls_context::use_certificate(const std::string& chain, const std::string& key) {
    state_->ssl.use_certificate_chain(net::buffer(chain));
    state_->ssl.use_private_key(net::buffer(key), ssl::context::pem);
}

void tls_context::trust(const std::string& authorities) {
    ::SSL_CTX_set_cert_store(state_->ssl.native_handle(), ::X509_STORE_new());  // forgets the system's
    state_->ssl.add_certificate_authority(net::buffer(authorities));
}

namespace {

class openssl_layer final : public tls_layer {
    tls_role role_;
    timed_socket& socket_;
    ssl::stream<timed_socket&> stream_;
    std::array<char, record_bytes_max> record_;
    bool cut_off_ = false;  // part of a record may have gone

    /// @return why an operation cannot begin.
    [[nodiscard]] error_code hindrance(operation kind) const {
        if (socket_.expired()) return boost::beast::error::timeout;
        if (cut_off_ && kind == operation::write) return net::error::broken_pipe;
        return {};
    }
    void fail(erased_handler handler, error_code error) {
        net::post(socket_.get_executor(), [handler = std::move(handler), error]() mutable { handler(error, 0); });
    }
    /// For what writes: the end of it says whether there can be more.
    auto watched(erased_handler handler) {
        return [this, handler = std::move(handler)](error_code error, std::size_t bytes = 0) mutable {
            cut_off_ = cut_off_ || error;
            handler(error, bytes);
        };
    }

  public:
    openssl_layer(timed_socket& socket, tls_context::state& context, const std::string& peer_name)
        : role_(context.role), socket_(socket), stream_(socket, context.ssl) {
        if (role_ == tls_role::server) return;
        assert(!peer_name.empty());
        if (!is_address(peer_name)) SSL_set_tlsext_host_name(stream_.native_handle(), peer_name.c_str());
        stream_.set_verify_callback(ssl::host_name_verification{peer_name});
    }

    void handshake(erased_handler handler) override {
        if (const error_code error = hindrance(operation::write)) return fail(std::move(handler), error);
        const auto side = role_ == tls_role::client ? ssl::stream_base::client : ssl::stream_base::server;
        stream_.async_handshake(side, watched(std::move(handler)));
    }

    void read_some(net::mutable_buffer into, erased_handler handler) override {
        if (const error_code error = hindrance(operation::read)) return fail(std::move(handler), error);
        stream_.async_read_some(into, std::move(handler));
    }

    net::mutable_buffer record() noexcept override { return net::buffer(record_); }

    void write_record(std::size_t bytes, erased_handler handler) override {
        assert(bytes <= record_bytes_max);
        if (const error_code error = hindrance(operation::write)) return fail(std::move(handler), error);
        stream_.async_write_some(net::buffer(record_, bytes), watched(std::move(handler)));
    }

    void shutdown(erased_handler handler) override {
        if (const error_code error = hindrance(operation::write)) return fail(std::move(handler), error);
        stream_.async_shutdown(watched(std::move(handler)));
    }

    bool is_drained() const noexcept override {
        // Asio's const stream does not tell its handle; asking changes nothing.
        ::SSL* const engine = const_cast<openssl_layer*>(this)->stream_.native_handle();
        return ::SSL_has_pending(engine) == 0 && ::BIO_ctrl_pending(::SSL_get_rbio(engine)) == 0;
    }
};

}  // namespace

std::unique_ptr<tls_layer> make_tls_layer(timed_socket& socket, tls_context& context, const std::string& peer_name) {
    return std::make_unique<openssl_layer>(socket, context.own(), peer_name);
}

}  // namespace seriesgate
