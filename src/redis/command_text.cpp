#include "redis/command_text.hpp"

#include <hiredis/hiredis.h>

#include <cassert>
#include <memory>
#include <new>

namespace seriesgate {

std::string command_text(const std::vector<std::string>& words) {
    assert(!words.empty());
    std::vector<const char*> starts;
    std::vector<std::size_t> sizes;
    starts.reserve(words.size());
    sizes.reserve(words.size());
    for (const std::string& each : words) {
        starts.push_back(each.data());
        sizes.push_back(each.size());
    }
    char* made = nullptr;
    const auto size = redisFormatCommandArgv(&made, static_cast<int>(words.size()), starts.data(), sizes.data());
    if (size < 0) throw std::bad_alloc{};
    const std::unique_ptr<char, decltype(&redisFreeCommand)> owned{made, redisFreeCommand};
    return {made, static_cast<std::size_t>(size)};
}

}  // namespace seriesgate
