#include "net/tls_session.hpp"

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/system/error_category.hpp>
#include <boost/system/system_error.hpp>
#include <cassert>
#include <cstring>
#include <new>
#include <utility>

#include "net/certificate_names.hpp"
#include "net/openssl.hpp"

namespace seriesgate {
namespace {

/// A record with its overhead; TLS 1.2 allows more. Source: RFC 8446, section 5.2.
constexpr std::size_t input_bytes_max = tls_session::record_bytes_max + 2048 + 5;

/// Bound of handshake messages and alerts in an established session, plus one for each such piece of plain text. An
/// honest peer sends a few tickets, and new keys after gigabytes. A key change costs us far more than its 27 bytes.
constexpr std::uint64_t silent_messages_max = 32;
constexpr std::uint64_t plain_bytes_for_message = 64 * 1024;

/// Bound of bytes in a row without plain text. A server's tickets may include client certificates.
constexpr std::size_t silent_bytes_max = 64 * 1024;
/// Bound of a handshake: mostly certificates, see tls_context.cpp.
constexpr std::size_t handshake_bytes_max = 160 * 1024;

/// Bound of output that waits for the socket: a handshake flight, or answers that the peer does not read.
constexpr std::size_t output_bytes_max = 256 * 1024;

struct input_buffer {
    std::unique_ptr<char[]> bytes;
    std::size_t begin = 0;
    std::size_t end = 0;

    [[nodiscard]] std::size_t size() const noexcept { return end - begin; }
};

}  // namespace

struct tls_session::state {
    std::shared_ptr<const tls_context> context;  // destroyed last
    std::string peer_name;                       // of a client's server
    input_buffer input;
    std::string output;  // collected while `sending` is in progress
    std::string sending;
    std::size_t sent_bytes = 0;
    std::size_t silent_bytes = 0;  // taken since the last plain text
    bool handshake_done = false;   // silent messages count from then on
    std::uint64_t silent_messages = 0;
    std::uint64_t plain_bytes = 0;
    std::string failure;
    ssl_ptr ssl;

    [[nodiscard]] bool is_told_nothing() const noexcept {
        return silent_messages > silent_messages_max + plain_bytes / plain_bytes_for_message;
    }
};

namespace {

using state = tls_session::state;

// The BIO callbacks of OpenSSL. Exceptions must not reach it.

int read_input(BIO* from, char* into, int size) {
    auto& of = *static_cast<state*>(BIO_get_data(from));
    BIO_clear_retry_flags(from);
    if (size <= 0) return 0;
    if (of.is_told_nothing()) return -1;  // a single step could read many more
    if (of.input.size() == 0) {
        BIO_set_retry_read(from);
        return -1;
    }
    const std::size_t count = std::min(static_cast<std::size_t>(size), of.input.size());
    std::memcpy(into, of.input.bytes.get() + of.input.begin, count);
    of.input.begin += count;
    of.silent_bytes += count;
    return static_cast<int>(count);
}

int write_output(BIO* to, const char* from, int size) {
    auto& of = *static_cast<state*>(BIO_get_data(to));
    BIO_clear_retry_flags(to);
    if (size <= 0) return 0;
    try {
        if (of.output.size() > output_bytes_max) of.failure = "the peer does not read what it asks for";
        if (!of.failure.empty()) return -1;
        of.output.append(from, static_cast<std::size_t>(size));
    } catch (const std::bad_alloc&) {
        return -1;
    }
    return size;
}

/// Called for messages in both directions, and for record headers.
void count_message(int is_written, int, int type, const void*, std::size_t, SSL*, void* argument) {
    auto& of = *static_cast<state*>(argument);
    const bool says_nothing = type == SSL3_RT_HANDSHAKE || type == SSL3_RT_ALERT;
    if (of.handshake_done && is_written == 0 && says_nothing) ++of.silent_messages;
}

long control(BIO*, int command, long, void*) {
    return command == BIO_CTRL_FLUSH ? 1 : 0;
}

int create(BIO* made) {
    BIO_set_init(made, 1);
    return 1;
}

bio_method_ptr make_method() {
    bio_method_ptr made{BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "session")};
    if (!made) throw std::bad_alloc{};
    BIO_meth_set_read(made.get(), read_input);
    BIO_meth_set_write(made.get(), write_output);
    BIO_meth_set_ctrl(made.get(), control);
    BIO_meth_set_create(made.get(), create);
    return made;
}

bio_ptr make_bio(state& of) {
    static const bio_method_ptr method = make_method();
    bio_ptr made{BIO_new(method.get())};
    if (!made) throw std::bad_alloc{};
    BIO_set_data(made.get(), &of);
    return made;
}

void verify_name(SSL* of, const std::string& name) {
    X509_VERIFY_PARAM* const checks = SSL_get0_param(of);
    error_code no_address;
    static_cast<void>(net::ip::make_address(name, no_address));
    bool agreed = false;
    if (no_address) {
        X509_VERIFY_PARAM_set_hostflags(checks,
                                        X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
        agreed = X509_VERIFY_PARAM_set1_host(checks, name.data(), name.size()) == 1 &&
                 SSL_set_tlsext_host_name(of, name.c_str()) == 1;
    } else {
        agreed = X509_VERIFY_PARAM_set1_ip_asc(checks, name.c_str()) == 1;
    }
    if (!agreed) throw boost::system::system_error{net::error::make_error_code(net::error::invalid_argument), name};
}

/// Resumes with a ticket if there is one; SSL_set_app_data lets keep_session() store new ones.
void resume(state& of, tls_tickets& from) {
    SSL_set_app_data(of.ssl.get(), &of.peer_name);
    const ssl_session_ptr known = from.take(of.peer_name);
    if (known) SSL_set_session(of.ssl.get(), known.get());
}

tls_step fail(state& of, std::string why) {
    if (of.failure.empty()) of.failure = std::move(why);
    return tls_step::failed;
}

constexpr const char* told_nothing = "much was sent that says nothing";

/// Step for an OpenSSL operation that did not succeed.
tls_step step_of(state& of, int returned, std::size_t input_bytes_allowed) {
    if (of.is_told_nothing()) {
        ERR_clear_error();
        return fail(of, told_nothing);
    }
    const int why = SSL_get_error(of.ssl.get(), returned);
    if (why == SSL_ERROR_ZERO_RETURN) return tls_step::closed;
    if (why != SSL_ERROR_WANT_READ) return fail(of, failure_of(of.ssl.get()));
    return of.silent_bytes <= input_bytes_allowed ? tls_step::wants_input : fail(of, told_nothing);
}

struct tls_category final : boost::system::error_category {
    const char* name() const noexcept override { return "tls"; }
    std::string message(int of) const override {
        return static_cast<tls_error>(of) == tls_error::truncated ? "TLS was cut off" : "TLS did not come about";
    }
};

}  // namespace

tls_session::tls_session(std::shared_ptr<const tls_context> context, const std::string& peer_name)
    : state_(std::make_unique<state>()) {
    state_->context = std::move(context);
    state_->peer_name = peer_name;
    const tls_context& shared = *state_->context;
    state_->ssl.reset(SSL_new(shared.ssl.get()));
    if (!state_->ssl) throw std::bad_alloc{};
    BIO* const both = make_bio(*state_).release();
    SSL_set_bio(state_->ssl.get(), both, both);
    SSL_set_msg_callback(state_->ssl.get(), count_message);
    SSL_set_msg_callback_arg(state_->ssl.get(), state_.get());
    if (shared.role == tls_role::server) {
        SSL_set_accept_state(state_->ssl.get());
    } else {
        assert(!peer_name.empty());
        SSL_set_connect_state(state_->ssl.get());
        verify_name(state_->ssl.get(), peer_name);
        resume(*state_, shared.tickets);
    }
}

tls_session::~tls_session() {
    // Without a mark of a clean shutdown OpenSSL would not reuse the ticket. TLS 1.1 dropped that rule: RFC 4346,
    // section 7.2.1.
    SSL_set_shutdown(state_->ssl.get(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
}

tls_step tls_session::handshake() {
    if (!state_->failure.empty()) return tls_step::failed;
    ERR_clear_error();
    const int returned = SSL_do_handshake(state_->ssl.get());
    if (returned != 1) return step_of(*state_, returned, handshake_bytes_max);
    state_->silent_bytes = 0;
    state_->handshake_done = true;
    return tls_step::done;
}

tls_session::read_outcome tls_session::read(net::mutable_buffer into) {
    assert(into.size() != 0);
    if (!state_->failure.empty()) return {tls_step::failed, 0};
    ERR_clear_error();
    std::size_t bytes = 0;
    const int returned = SSL_read_ex(state_->ssl.get(), into.data(), into.size(), &bytes);
    if (returned != 1) return {step_of(*state_, returned, silent_bytes_max), 0};
    state_->silent_bytes = 0;
    state_->plain_bytes += bytes;
    return {tls_step::done, bytes};
}

tls_step tls_session::write(net::const_buffer plain) {
    assert(plain.size() != 0 && plain.size() <= record_bytes_max);
    if (!state_->failure.empty()) return tls_step::failed;
    ERR_clear_error();
    std::size_t bytes = 0;
    const int returned = SSL_write_ex(state_->ssl.get(), plain.data(), plain.size(), &bytes);
    if (returned == 1) return tls_step::done;
    return fail(*state_, failure_of(state_->ssl.get()));
}

void tls_session::close() {
    const bool has_sent_close = (SSL_get_shutdown(state_->ssl.get()) & SSL_SENT_SHUTDOWN) != 0;
    if (!state_->failure.empty() || !is_established() || has_sent_close) return;
    ERR_clear_error();
    if (SSL_shutdown(state_->ssl.get()) < 0) fail(*state_, failure_of(state_->ssl.get()));
}

net::mutable_buffer tls_session::input_room() {
    input_buffer& input = state_->input;
    if (!input.bytes) input.bytes.reset(new (std::nothrow) char[input_bytes_max]);
    if (!input.bytes) return {};
    assert(input.size() == 0);  // a session wants input only after it has taken all
    input.begin = input.end = 0;
    return {input.bytes.get(), input_bytes_max};
}

void tls_session::take_input(std::size_t bytes) noexcept {
    assert(state_->input.end == 0 && bytes <= input_bytes_max);
    state_->input.end = bytes;
}

net::const_buffer tls_session::output() {
    state& of = *state_;
    if (of.sent_bytes == of.sending.size()) {
        of.sending.clear();
        of.sending.swap(of.output);
        of.sent_bytes = 0;
    }
    return net::buffer(of.sending) + of.sent_bytes;
}

void tls_session::sent_output(std::size_t bytes) noexcept {
    assert(bytes <= state_->sending.size() - state_->sent_bytes);
    state_->sent_bytes += bytes;
}

bool tls_session::is_drained() {
    char byte = 0;
    ERR_clear_error();
    const int returned = SSL_peek(state_->ssl.get(), &byte, 1);
    if (returned > 0 || step_of(*state_, returned, silent_bytes_max) != tls_step::wants_input) return false;
    return SSL_has_pending(state_->ssl.get()) == 0;
}

void tls_session::rest() noexcept {
    if (state_->input.size() == 0) state_->input = {};
    if (output().size() != 0) return;
    std::string{}.swap(state_->output);
    std::string{}.swap(state_->sending);
}

bool tls_session::is_established() const noexcept {
    return SSL_is_init_finished(state_->ssl.get()) != 0;
}

const std::string& tls_session::failure() const noexcept {
    return state_->failure;
}

void tls_session::cut_off() {
    fail(*state_, is_established() ? "cut off" : "the peer closed the connection during the handshake");
}

std::string tls_session::peer_identity() const {
    const tls_context& shared = *state_->context;
    if (shared.role == tls_role::server && !shared.verifies_clients()) return {};
    const certificate_ptr shown{SSL_get1_peer_certificate(state_->ssl.get())};
    if (!shown || SSL_get_verify_result(state_->ssl.get()) != X509_V_OK) return {};
    return name_in(shown.get());
}

ssl_st* tls_session::native() const noexcept {
    return state_->ssl.get();
}

error_code make_error_code(tls_error from) noexcept {
    static const tls_category category;
    return {static_cast<int>(from), category};
}

}  // namespace seriesgate
