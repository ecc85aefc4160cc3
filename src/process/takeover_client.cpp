#include "process/takeover_client.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <utility>

namespace seriesgate {
namespace {

/// A dying process ends at most this long after its connections: it frees its memory, and its last log lines may wait
/// for a second for a reader.
constexpr std::chrono::milliseconds dying_max{3000};

[[noreturn]] void give_up(const std::string& why) {
    throw std::runtime_error("takeover: " + why);
}

std::string in_words(error_code error) {
    if (error == net::error::eof || error == net::error::broken_pipe || error == net::error::connection_reset)
        return "the running gate has ended it: its log says why";
    if (error == net::error::timed_out) return "the running gate does not answer";
    return error.message();
}

std::string refusal_in(const message& heard) {
    return "the running gate: " + heard.text.substr(takeover::no.size());
}

/// Parses "socket NAME" or "socket NAME file".
given_socket socket_in(message heard) {
    if (heard.sockets.size() != 1 || !heard.text.starts_with(takeover::socket))
        give_up("the running gate speaks another protocol");
    std::string name = heard.text.substr(takeover::socket.size());
    const bool has_file = name.ends_with(takeover::with_file);
    if (has_file) name.resize(name.size() - takeover::with_file.size());
    return {.name = std::move(name),
            .at = {.file = {}, .socket = std::move(heard.sockets.front()), .leaves_file = has_file}};
}

}  // namespace

std::optional<takeover_client> takeover_client::of_gate_at(const std::string& path) {
    auto reached = message_socket::connect_to(path);
    if (!reached) {
        const error_code error = reached.error();
        const bool is_nobody = error == net::error::connection_refused ||
                               error == boost::system::errc::no_such_file_or_directory ||
                               error == boost::system::errc::not_a_directory;
        if (is_nobody) return std::nullopt;
        give_up(fmt::format("{}: {}{}", path, error.message(), foreign_owner(path)));
    }
    const uid_t user = reached->peer_user();
    if (user != ::geteuid() && user != 0)
        give_up(fmt::format("{}: the process there is of the user {}, this one of {}", path, user, ::geteuid()));
    return takeover_client{std::move(*reached)};
}

void takeover_client::say(std::string_view word) {
    if (const error_code error = other_.send(word)) not_heard(error);
}

void takeover_client::not_heard(error_code error) {
    const auto why_not = other_.receive();  // the running gate may have sent a reason
    give_up(why_not && why_not->text.starts_with(takeover::no) ? refusal_in(*why_not) : in_words(error));
}

message takeover_client::hear(std::chrono::steady_clock::duration limit) {
    auto got = other_.receive_within(limit);
    if (!got) give_up(in_words(got.error()));
    if (got->text.starts_with(takeover::no)) give_up(refusal_in(*got));
    return std::move(*got);
}

std::vector<given_socket> takeover_client::ask_for_sockets() {
    say(takeover::hello);
    std::vector<given_socket> given;
    for (;;) {
        message heard = hear(takeover::silence_limit);
        if (heard.text == takeover::that_is_all) return given;
        given.push_back(socket_in(std::move(heard)));
    }
}

void takeover_client::take() {
    say(takeover::go);
    for (;;) {
        const message heard = hear(takeover::silence_limit);
        if (heard.text == takeover::yours) return;
        if (heard.text == takeover::wait) continue;
        // A gate of version 0.1 also sends its idle connections. `heard` closes them, and their senders connect again.
        if (!heard.text.starts_with(takeover::connections)) give_up("the running gate speaks another protocol");
        say(takeover::got);
    }
}

bool takeover_client::has_died() const noexcept {
    return other_.peer_has_ended(dying_max);
}

bool takeover_client::look() {
    const auto got = other_.receive();
    if (got && got->text.starts_with(takeover::no)) give_up(refusal_in(*got));
    if (!got && got.error() == net::error::would_block) return false;
    if (!got && has_died()) return true;
    give_up(in_words(net::error::eof));
}

void takeover_client::serve() {
    if (const error_code error = other_.send(takeover::ready)) {
        if (has_died()) return;
        not_heard(error);
    }
    auto got = other_.receive_within(takeover::answer_limit);
    if (!got && got.error() == net::error::timed_out) {
        // The answer may be sent right now. From here on it cannot, and an earlier one is already here.
        other_.refuse_more();
        got = other_.receive();
    }
    if (!got && has_died()) return;
    if (!got) give_up(in_words(got.error()));
    if (got->text != takeover::serve) give_up("the running gate speaks another protocol");
}

}  // namespace seriesgate
