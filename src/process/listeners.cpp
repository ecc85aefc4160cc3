#include "process/listeners.hpp"

#include <stdexcept>
#include <utility>

#include "base/log.hpp"
#include "http/connections.hpp"
#include "http/server.hpp"
#include "process/takeover_protocol.hpp"

namespace seriesgate {
namespace {

/// Inherited listeners that are still configured; the rest close with the old process.
std::vector<given_socket> fitting(std::vector<given_socket> given, const config& settings) {
    std::erase_if(given, [&](const given_socket& one) {
        const stream_endpoint bound = one.at.socket.local_endpoint();
        const auto& admin = settings.admin.listen;
        return one.name == admin_socket_name ? !admin || !fits(bound, *admin) : !fits(bound, settings.listen);
    });
    return given;
}

inherited_listeners take_over_listeners(const config& settings, takeover_client from) {
    inherited_listeners made;
    made.at = assign_sockets(fitting(from.ask_for_sockets(), settings), settings.listen, settings.admin.listen);
    // Opens the missing ones before the takeover: an address in use must not cost any request.
    if (!made.at.gate) made.at.gate = listen_on(settings.listen);
    if (settings.admin.listen && !made.at.admin) made.at.admin = listen_on(*settings.admin.listen);
    raise_descriptor_limit();  // before connections come
    from.take();
    made.before = std::move(from);
    return made;
}

}  // namespace

inherited_listeners find_listeners(const config& settings, bool takes_over) {
    auto given = take_activated_sockets();
    const bool is_activated = !given.empty();
    if (takes_over) {
        if (is_activated) throw std::runtime_error("--takeover: the service manager has given sockets already");
        auto running = takeover_client::of_gate_at(takeover_path(settings));
        if (running) return take_over_listeners(settings, std::move(*running));
        log::info("no gate runs, so none is taken over");
    }
    return {.at = assign_sockets(std::move(given), settings.listen, settings.admin.listen),
            .is_activated = is_activated,
            .before = {}};
}

void adopt_files(server& senders, server* admin_server) {
    senders.take_file();
    if (admin_server != nullptr) admin_server->take_file();
}

}  // namespace seriesgate
