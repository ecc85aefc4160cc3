/// zstd bodies, as vmagent sends them, behind bounds that are checked before anything is allocated.
/// Source: RFC 8878.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/bytes.hpp"
#include "core/result.hpp"
#include "wire/decode_buffer.hpp"
#include "wire/wire_error.hpp"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace seriesgate {

/// The size in bytes that the frames say they have, without decoding them; for frames that do not say, as much as they
/// can hold, but at most `decoded_bytes_max`. As in zstd's own tools a body may be several frames.
/// Errors: no bytes, what is no frame, more than `decoded_bytes_max` or than bounds.hpp allows for so few bytes, or
/// more than blocks of this size can hold.
result<std::size_t, wire_error> zstd_decoded_size(bytes_view compressed, std::uint64_t decoded_bytes_max);

/// Decodes and encodes. Owns the library's working memory, which is large: one a worker.
/// Threads: one at a time.
class zstd_codec {
    struct release {
        void operator()(ZSTD_CCtx_s* context) const noexcept;
        void operator()(ZSTD_DCtx_s* context) const noexcept;
    };
    std::unique_ptr<ZSTD_CCtx_s, release> encoder_;
    std::unique_ptr<ZSTD_DCtx_s, release> decoder_;

  public:
    /// @return a view into `buffer`, valid until its next use.
    result<bytes_view, wire_error> decode(bytes_view compressed, std::uint64_t decoded_bytes_max,
                                          decode_buffer& buffer);

    /// Compresses `raw` as one frame that says its size.
    /// @param room to work in: for the worst case, which is far more than the result takes.
    /// @param out replaced.
    void encode(bytes_view raw, decode_buffer& room, std::string& out);
};

}  // namespace seriesgate
