/// The answers to requests that are rejected for what they are.
#pragma once

#include <cstdint>
#include <string_view>

#include "http/reply.hpp"
#include "wire/wire_error.hpp"

namespace seriesgate {

/// What does not decode, or is over a bound of the decoder.
reply malformed(const wire_error& error);

/// What cannot be decompressed. @param decoded_bytes_max server.maxDecodedBytes
reply undecodable(const wire_error& error, std::uint64_t decoded_bytes_max);

reply unsupported_media(std::string_view fault);

/// A 5xx, so that the sender keeps the data until someone has mended the upstream's address.
reply looped();

}  // namespace seriesgate
