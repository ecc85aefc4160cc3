#include "wire/zstd_frame.hpp"

#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cassert>
#include <new>

#include "wire/bounds.hpp"

namespace seriesgate {
namespace {

/// The smallest block, three bytes of header and one that is repeated, makes 128 KiB.
/// Source: RFC 8878, 3.1.1.2.
constexpr std::uint64_t block_bytes_min = 4;
constexpr std::uint64_t block_decoded_max = 128 << 10;

/// What vmagent uses for blocks of our size; higher levels cost more than they save between two hosts.
constexpr int level = 1;

wire_error corrupt() {
    return {wire_errc::zstd_corrupt, 0};
}

/// The sum, or the largest number if it is larger than that.
std::uint64_t over(std::uint64_t sum, std::uint64_t more) {
    return more > UINT64_MAX - sum ? UINT64_MAX : sum + more;
}

/// What any body may decode to.
std::uint64_t whole_bound(std::uint64_t decoded_bytes_max) {
    return std::min(decoded_bytes_max, decoded_bytes_limit);
}

/// What this one may: a small one not as much as a large one, for to decode is work, too.
std::uint64_t bound_of(bytes_view compressed, std::uint64_t decoded_bytes_max) {
    const std::uint64_t by_size =
        std::max<std::uint64_t>(zstd_expanded_bytes_free, zstd_expansion_max * compressed.size());
    return std::min(whole_bound(decoded_bytes_max), by_size);
}

}  // namespace

void zstd_codec::release::operator()(ZSTD_CCtx_s* context) const noexcept {
    ZSTD_freeCCtx(context);
}
void zstd_codec::release::operator()(ZSTD_DCtx_s* context) const noexcept {
    ZSTD_freeDCtx(context);
}

result<std::size_t, wire_error> zstd_decoded_size(bytes_view compressed, std::uint64_t decoded_bytes_max) {
    if (compressed.empty()) return wire_error{wire_errc::empty_body, 0};
    const std::uint64_t limit = bound_of(compressed, decoded_bytes_max);
    std::uint64_t declared_sum = 0;
    std::uint64_t possible_sum = 0;  // of frames that do not say
    for (bytes_view left = compressed; !left.empty();) {
        const std::size_t size = ZSTD_findFrameCompressedSize(left.data(), left.size());
        if (ZSTD_isError(size)) return corrupt();
        const unsigned long long declared = ZSTD_getFrameContentSize(left.data(), left.size());
        if (declared == ZSTD_CONTENTSIZE_ERROR) return corrupt();
        const std::uint64_t possible = size / block_bytes_min * block_decoded_max;
        if (declared == ZSTD_CONTENTSIZE_UNKNOWN) {
            possible_sum += possible;
        } else {
            if (declared > whole_bound(decoded_bytes_max) - declared_sum)
                return wire_error{wire_errc::declared_size_over_limit, 0, over(declared_sum, declared)};
            if (declared > possible) return wire_error{wire_errc::declared_size_implausible, 0};
            if (declared > limit - declared_sum) return wire_error{wire_errc::expands_too_much, 0};
            declared_sum += declared;
        }
        assert(size > 0 && size <= left.size());
        left.remove_prefix(size);
    }
    return static_cast<std::size_t>(std::min(limit, declared_sum + possible_sum));
}

result<bytes_view, wire_error> zstd_codec::decode(bytes_view compressed, std::uint64_t decoded_bytes_max,
                                                  decode_buffer& buffer) {
    const auto size = zstd_decoded_size(compressed, decoded_bytes_max);
    if (!size) return size.error();
    assert(*size <= decoded_bytes_limit && *size <= decoded_bytes_max);
    if (!decoder_) decoder_.reset(ZSTD_createDCtx());
    if (!decoder_) throw std::bad_alloc{};
    char* const decoded = buffer.room_for(*size);
    // In one step: the output is the window, so a frame cannot ask for memory of its own.
    const std::size_t written =
        ZSTD_decompressDCtx(decoder_.get(), decoded, *size, compressed.data(), compressed.size());
    if (ZSTD_isError(written)) {
        // Only a frame that did not say its size can want more than there is room for.
        if (ZSTD_getErrorCode(written) != ZSTD_error_dstSize_tooSmall) return corrupt();
        const bool is_whole = *size == whole_bound(decoded_bytes_max);
        return wire_error{is_whole ? wire_errc::declared_size_over_limit : wire_errc::expands_too_much, 0};
    }
    assert(written <= *size);
    return bytes_view{decoded, written};
}

void zstd_codec::encode(bytes_view raw, decode_buffer& room, std::string& out) {
    if (!encoder_) encoder_.reset(ZSTD_createCCtx());
    if (!encoder_) throw std::bad_alloc{};
    const std::size_t most = ZSTD_compressBound(raw.size());
    char* const compressed = room.room_for(most);
    const std::size_t written = ZSTD_compressCCtx(encoder_.get(), compressed, most, raw.data(), raw.size(), level);
    if (ZSTD_isError(written)) throw std::bad_alloc{};  // with room for the worst case nothing else can fail
    assert(written <= most);
    out.assign(compressed, written);
}

}  // namespace seriesgate
