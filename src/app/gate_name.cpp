#include "app/gate_name.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>

#include "series/label.hpp"

namespace seriesgate {
namespace {

std::string host_name() {
    std::array<char, 256> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? readable(name.data()) : "unknown";
}

}  // namespace

std::string gate_name(const listen_address& listens) {
    if (!listens.unix_path.empty()) return host_name() + ":" + readable(listens.unix_path);
    if (listens.port == 0) return fmt::format("{}:pid-{}", host_name(), getpid());
    return fmt::format("{}:{}", host_name(), listens.port);
}

}  // namespace seriesgate
