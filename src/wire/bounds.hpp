/// Bounds on what a request may hold.
#pragma once

#include <cstddef>

namespace seriesgate {

/// No real sender comes near them: Prometheus sends 2,000 series a request and vmagent 10,000, stores allow 30 to 40
/// labels and values of 1 to 16 KiB by default. They bound what a small hostile body can make us remember.
inline constexpr std::size_t series_per_request_max = 1 << 20;
inline constexpr std::size_t labels_per_series_max = 1024;
inline constexpr std::size_t label_bytes_max = 64 * 1024;

/// Remote write 2. Prometheus sends some thousand symbols a request.
inline constexpr std::size_t symbols_per_request_max = 1 << 22;
/// The names and values of a series filled in, and all that the references of a request stand for, those of exemplars
/// and metadata too. Without these bounds a body of some megabytes, in which all labels refer to one symbol of 64 KiB,
/// means terabytes to look at or to write out.
inline constexpr std::size_t label_bytes_per_series_max = 1 << 20;
inline constexpr std::size_t symbol_bytes_per_request_max = 1 << 28;

}  // namespace seriesgate
