/// Bounds on what a request may hold.
#pragma once

#include <cstddef>

namespace seriesgate {

/// They bound what a small hostile body can make us remember. Prometheus sends 2,000 series a request and vmagent
/// 10,000; stores allow 30 to 40 labels by default.
inline constexpr std::size_t series_per_request_max = 1 << 20;
inline constexpr std::size_t labels_per_series_max = 1024;
/// Stores allow values of 1 to 16 KiB by default. Prometheus sends what was scraped: an annotation, of which Kubernetes
/// allows 256 KiB.
inline constexpr std::size_t label_bytes_max = 256 * 1024;

/// Of series whose labels are not in the order of their names, or come twice. They are sorted, which takes some ten
/// times as long as to read them: together a quarter of a second. Senders have to sort them, and clients that do not
/// send some thousand series at once.
inline constexpr std::size_t unordered_labels_per_request_max = 1 << 22;

/// A body of zstd decodes to this many bytes, whatever its size: twice a block of vmagent (-remoteWrite.maxBlockSize).
inline constexpr std::size_t zstd_expanded_bytes_free = 16u << 20;
/// A larger one to at most so many times its size. Series of kube-state-metrics, all of value 0, came to 284 times.
inline constexpr std::size_t zstd_expansion_max = 512;

/// Remote write 2. Prometheus sends some thousand symbols a request.
inline constexpr std::size_t symbols_per_request_max = 1 << 22;
/// The names and values of a series filled in, and all that the references of a request stand for, those of exemplars
/// and metadata too. Without these bounds a body of some megabytes, in which all labels refer to one symbol of 256 KiB,
/// means terabytes to look at or to write out.
inline constexpr std::size_t label_bytes_per_series_max = 1 << 20;
inline constexpr std::size_t symbol_bytes_per_request_max = 1 << 28;

}  // namespace seriesgate
