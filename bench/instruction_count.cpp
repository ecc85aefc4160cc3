// The core path without clock or noise, for bench/instructions.sh: instruction_count PATH ROUNDS runs it so many times
// over the recorded requests, under an instruction counter.
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "limit/limiter.hpp"
#include "plan/planner.hpp"
#include "recorded.hpp"
#include "wire/splice.hpp"

using namespace seriesgate;
using namespace seriesgate::bench;

namespace {

enum class load : std::uint8_t { accepted, half_refused, refused };

struct path {
    std::string_view name;
    protocol version;
    load kind;
    set_kind set = set_kind::bloom;
};

constexpr path paths[] = {{"v1-accepted", protocol::v1, load::accepted},
                          {"v1-half-refused", protocol::v1, load::half_refused},
                          {"v1-refused", protocol::v1, load::refused},
                          {"v2-accepted", protocol::v2, load::accepted},
                          {"v2-half-refused", protocol::v2, load::half_refused},
                          {"exact-accepted", protocol::v1, load::accepted, set_kind::exact},
                          {"exact-refused", protocol::v1, load::refused, set_kind::exact}};

/// Compressed bytes in, compressed bytes out. @return bytes to send upstream in place of the senders' own.
std::size_t run(const recorded_requests& requests, protocol version, series_limiter& limiter, planner& plan_request,
                decode_buffer& buffer, decode_buffer& room, std::string& spliced, std::string& out) {
    std::size_t bytes = 0;
    for (const auto& compressed : requests.compressed) {
        const auto body = snappy_decode(compressed, decoded_bytes_limit, buffer);
        const auto made = plan_request(*body, limiter, noon, {}, version);
        if (made->forward != body_action::spliced) continue;
        splice_snappy(compressed, *body, made->removed, spliced, room, out);
        bytes += out.size();
    }
    return bytes;
}

}  // namespace

int main(int argc, char** argv) {
    int rounds = 0;
    const path* chosen = nullptr;
    if (argc == 3) {
        const std::string_view count = argv[2];
        std::from_chars(count.data(), count.data() + count.size(), rounds);
        for (const path& each : paths)
            if (each.name == argv[1]) chosen = &each;
    }
    if (chosen == nullptr || rounds < 1) {
        std::fputs("usage: instruction_count PATH ROUNDS\n", stderr);
        return 1;
    }
    const recorded_requests& requests = chosen->version == protocol::v2 ? recorded_v2() : recorded();
    const bool is_half = chosen->kind == load::half_refused;
    const std::uint64_t series_max = chosen->kind == load::refused ? 1 : 0;
    series_limiter whole{
        {.global = {.hourly = series_max}}, noon, hash_key::known_to_all(), limit_scope::gate, chosen->set};
    std::optional<partly_known> half;
    if (is_half) half.emplace(requests, chosen->version);
    series_limiter& limiter = is_half ? half->limiter : whole;
    worker_planner plan_request;
    decode_buffer buffer;
    decode_buffer room;
    std::string spliced;
    std::string out;
    // Before the first round that counts, the series are known and the buffers have grown.
    for (int i = 0; i < 2; ++i) run(requests, chosen->version, limiter, plan_request, buffer, room, spliced, out);
    std::size_t bytes = 0;
    for (int i = 0; i < rounds; ++i)
        bytes += run(requests, chosen->version, limiter, plan_request, buffer, room, spliced, out);
    std::printf("%s: %zu samples a round, %zu bytes changed\n", argv[1], requests.samples, bytes);
    return 0;
}
