#include "handover/takeover.hpp"

#include <filesystem>

namespace seriesgate {

std::string takeover_path(const config& settings) {
    if (!settings.server.takeover_socket.empty()) return settings.server.takeover_socket;
    if (settings.state.dir.empty()) return "";
    return std::filesystem::path{settings.state.dir} / "takeover";
}

}  // namespace seriesgate
