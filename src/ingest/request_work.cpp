#include "ingest/request_work.hpp"

#include <algorithm>

#include "core/bytes.hpp"

namespace seriesgate {
namespace {

/// A translated body has its symbols filled in, and is to be no larger than others.
std::size_t filled_in_max(const config& settings) {
    const bool translates = settings.upstream.protocol == upstream_protocol::v1;
    return translates ? std::min(settings.server.decoded_bytes_max, std::uint64_t{symbol_bytes_per_request_max})
                      : symbol_bytes_per_request_max;
}

}  // namespace

request_work::request_work(const config& settings, const hash_key& key, known_labels& labels)
    : planning(key, settings.ignore_labels, filled_in_max(settings), &labels), asked(key), translate(key) {}

void request_work::shrink() {
    give_back(decoding, kept_buffer_bytes);
    planning.shrink();
    asked.shrink();
    give_back(rewritten, kept_buffer_bytes);
}

}  // namespace seriesgate
