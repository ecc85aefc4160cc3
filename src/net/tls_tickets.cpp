#include "net/tls_tickets.hpp"

#include <utility>

namespace seriesgate {

void tls_tickets::give(const std::string& name, ssl_session_ptr session) {
    const std::scoped_lock held{lock_};
    if (kept_.size() == names_max && !kept_.contains(name)) return;
    auto& of_name = kept_[name];
    if (of_name.size() == each_max) of_name.pop_front();
    of_name.push_back(std::move(session));
}

ssl_session_ptr tls_tickets::take(const std::string& name) {
    const std::scoped_lock held{lock_};
    const auto found = kept_.find(name);
    if (found == kept_.end() || found->second.empty()) return nullptr;
    SSL_SESSION* const newest = found->second.back().get();
    // Who sees the same ticket twice knows that it is the same client: RFC 8446, C.4. TLS 1.2 makes none anew.
    if (SSL_SESSION_get_protocol_version(newest) == TLS1_2_VERSION) {
        SSL_SESSION_up_ref(newest);
        return ssl_session_ptr{newest};
    }
    ssl_session_ptr taken = std::move(found->second.back());
    found->second.pop_back();
    return taken;
}

}  // namespace seriesgate
