/// Requests made by hand, and what a session would hold of them.
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "http/inflight.hpp"
#include "http/route_table.hpp"
#include "limit/window.hpp"
#include "wire/splice.hpp"
#include "wire/wire_bytes.hpp"

namespace seriesgate::testing {

inline constexpr time_point noon = std::chrono::sys_days{std::chrono::year{2026} / 3 / 10} + std::chrono::hours{12};

/// up{job="<job>"} with a sample, for each.
inline std::string body_v1(std::initializer_list<std::string_view> jobs) {
    std::string body;
    for (const auto job : jobs) body += series({label("__name__", "up"), label("job", job), sample(1)});
    return body;
}

/// The symbols of all that body_v2 writes: "", "__name__", "up", "job", and then the jobs.
inline std::string symbols_v2(std::initializer_list<std::string_view> jobs) {
    std::string symbols;
    for (const std::string_view text : {"", "__name__", "up", "job"}) symbols += len_field(4, text);
    for (const auto job : jobs) symbols += len_field(4, job);
    return symbols;
}

/// Of the same series as body_v1, in remote write 2.
inline std::string body_v2(std::initializer_list<std::string_view> jobs) {
    std::string body = symbols_v2(jobs);
    std::uint64_t job = 4;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        const std::string refs = varint(1) + varint(2) + varint(3) + varint(job++);
        body += len_field(5, len_field(1, refs) + sample(1));
    }
    return body;
}

/// In remote write 2, up{job="a"} with nothing but a native histogram with custom buckets.
inline std::string custom_buckets_v2() {
    constexpr std::int64_t custom_schema = -53;
    const std::string refs = varint(1) + varint(2) + varint(3) + varint(4);
    // The schema is a sint32: zigzag.
    const std::string histogram = len_field(3, varint_field(1, 3) + fixed64_field(3, 0) +
                                                   varint_field(4, static_cast<std::uint64_t>(-2 * custom_schema - 1)) +
                                                   varint_field(15, 1'700'000'000'000));
    return symbols_v2({"a"}) + len_field(5, len_field(1, refs) + histogram);
}

inline std::string compressed(compression coding, const std::string& body) {
    std::string out;
    body_codec{}.encode(coding, body, out);
    return out;
}

inline std::string decompressed(compression coding, const std::string& body) {
    decode_buffer room;
    const auto decoded = body_codec{}.decode(coding, body, decoded_bytes_limit, room);
    return decoded ? std::string{*decoded} : "not decodable";
}

/// A request that has been read, with its share of the memory taken.
struct received {
    http::fields headers;
    inflight_lease memory;
    http_request request;

    received(inflight_room& room, std::string body, std::string_view query = {})
        : memory(room), request{.headers = headers, .query = query, .body = std::move(body), .memory = memory} {
        (void)memory.grow(request.body.size());
    }
};

}  // namespace seriesgate::testing
