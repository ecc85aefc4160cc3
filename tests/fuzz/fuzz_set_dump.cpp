// Any bytes as the answer to DUMP: a set of as many members as they hold, written again the same; or nothing at all.
#include "fleet/set_reading.hpp"
#include "fuzz/fuzz_target.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

constexpr std::size_t footer_bytes = 10;
constexpr std::uint64_t unread = 0x5ee5;

/// The members as the store writes them, of that size each.
std::string written(const std::vector<std::uint64_t>& members, std::size_t size) {
    std::string text;
    for (const std::uint64_t each : members)
        for (std::size_t i = 0; i < size; ++i) text += static_cast<char>(each >> 8 * i);
    return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string payload{as_bytes(data, size)};  // of just that size
    std::vector<std::uint64_t> members{unread};
    const bool is_read = read_set_dump(payload, members);
    require(members.front() == unread, "what was there is changed");
    members.erase(members.begin());
    if (!is_read) {
        require(members.empty(), "half a set");
        return 0;
    }
    bool is_same = false;
    for (const std::size_t bytes : {std::size_t{2}, std::size_t{4}, std::size_t{8}}) {
        const std::string again = written({bytes, members.size()}, 4) + written(members, bytes);
        is_same = is_same || (payload.size() >= again.size() + footer_bytes &&
                              payload.substr(payload.size() - footer_bytes - again.size(), again.size()) == again);
    }
    require(is_same, "other members than those that are there");
    return 0;
}
