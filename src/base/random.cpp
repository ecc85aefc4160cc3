#include "base/random.hpp"

#include <sys/random.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace seriesgate {
namespace {

random_source& installed_source() {
    static random_source source;
    return source;
}

}  // namespace

void fill_random(std::span<std::byte> bytes) {
    if (installed_source()) return installed_source()(bytes);
    while (!bytes.empty()) {
        const ssize_t got = ::getrandom(bytes.data(), bytes.size(), 0);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw std::system_error{errno, std::system_category(), "getrandom"};
        bytes = bytes.subspan(static_cast<std::size_t>(got));
    }
}

std::uint64_t random_number() {
    std::uint64_t number = 0;
    fill_random(std::as_writable_bytes(std::span{&number, 1}));
    return number;
}

void install_random_source(random_source from) {
    installed_source() = std::move(from);
}

}  // namespace seriesgate
