#include "process/inherited_sockets.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "config/environment.hpp"
#include "core/text.hpp"

namespace seriesgate {
namespace {

constexpr int first_descriptor = 3;  // SD_LISTEN_FDS_START
constexpr int sockets_max = 64;

/// Nothing unless the variable is set to a whole number.
std::optional<int> number_in(const char* variable) {
    return whole_number<int>(variable_of_process(variable).value_or(""));
}

bool option_is(int descriptor, int option, int value) {
    int found = -1;
    socklen_t size = sizeof found;
    return ::getsockopt(descriptor, SOL_SOCKET, option, &found, &size) == 0 && found == value;
}

/// Takes the first name of a colon-separated list.
std::string take_name(std::string_view& names) {
    const std::size_t end = names.find(':');
    std::string first{names.substr(0, end)};
    names.remove_prefix(end == std::string_view::npos ? names.size() : end + 1);
    return first;
}

std::string called(const given_socket& one) {
    return fmt::format("the socket {} that was given{}", endpoint_text(one.at.socket.local_endpoint()),
                       one.name.empty() ? "" : fmt::format(" as '{}'", one.name));
}

[[noreturn]] void refuse(const given_socket& one, std::string_view why) {
    throw std::runtime_error(fmt::format("{} {}", called(one), why));
}

void put(std::optional<listening_socket>& where, given_socket& one) {
    if (where) refuse(one, "is the second one for the same: there can be but one");
    where = std::move(one.at);
}

}  // namespace

std::vector<given_socket> take_activated_sockets() {
    const int count = number_in("LISTEN_FDS").value_or(0);
    const std::string all_names = variable_of_process("LISTEN_FDNAMES").value_or("");
    if (number_in("LISTEN_PID") != ::getpid() || count <= 0) return {};
    for (const char* name : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) ::unsetenv(name);
    if (count > sockets_max) throw std::runtime_error(fmt::format("LISTEN_FDS: {} sockets are too many", count));

    std::vector<given_socket> given;
    std::string_view names = all_names;
    for (int descriptor = first_descriptor; descriptor < first_descriptor + count; ++descriptor) {
        if (::fcntl(descriptor, F_SETFD, FD_CLOEXEC) != 0)
            throw std::runtime_error(fmt::format("LISTEN_FDS: descriptor {} is not open", descriptor));
        given.push_back({.name = take_name(names), .at = {.file = {}, .socket = detached_socket{descriptor}}});
        if (!option_is(descriptor, SO_TYPE, SOCK_STREAM) || !option_is(descriptor, SO_ACCEPTCONN, 1))
            refuse(given.back(), "does not listen for connections: Accept=no and ListenStream= it has to be");
    }
    return given;
}

bool fits(const stream_endpoint& bound, const listen_address& configured) {
    if (!configured.unix_path.empty()) return endpoint_text(bound) == "unix:" + configured.unix_path;
    const auto address = ip_address_of(bound);
    if (!address || (configured.port != 0 && port_of(bound) != configured.port)) return false;
    error_code is_name;
    const auto host = net::ip::make_address(configured.host, is_name);
    if (is_name) return true;
    return host == *address || (host.is_unspecified() && address->is_unspecified());
}

given_listeners assign_sockets(std::vector<given_socket> given, const listen_address& gate,
                               const std::optional<listen_address>& admin) {
    given_listeners found;
    for (given_socket& one : given) {
        const stream_endpoint bound = one.at.socket.local_endpoint();
        if (one.name == admin_socket_name && !admin) refuse(one, "is for admin.listen, which is not set");
        if (one.name == admin_socket_name || (one.name != gate_socket_name && admin && fits(bound, *admin)))
            put(found.admin, one);
        else if (one.name == gate_socket_name || fits(bound, gate))
            put(found.gate, one);
        else
            refuse(one, fmt::format("is neither at listen ({}){}: call it gate{} (FileDescriptorName=)", shown(gate),
                                    admin ? fmt::format(" nor at admin.listen ({})", shown(*admin)) : "",
                                    admin ? " or admin" : ""));
    }
    return found;
}

}  // namespace seriesgate
