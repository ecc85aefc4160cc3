/// Replies out of a connection's bytes, within bounds that hiredis has not.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "redis/redis_reply.hpp"

namespace seriesgate {

/// What is counted while a reply comes.
struct reply_shape {
    std::size_t elements = 0;
    bool is_too_deep = false;
};

/// Takes bytes in whatever pieces they come. Threads: one at a time.
class reply_reader {
    struct freed {
        void operator()(redisReader* reader) const noexcept { redisReaderFree(reader); }
    };

    reply_shape shape_;  // of the reply that is not complete yet; hiredis is told where to find it
    std::unique_ptr<redisReader, freed> reader_;
    std::size_t bytes_ = 0;  // taken since the last complete reply
    std::string fault_;

  public:
    static constexpr std::size_t bytes_max = 16 << 20;
    /// Of a number, a status or an error: hiredis looks for its end from the beginning, each time that something comes.
    static constexpr std::size_t line_bytes_max = 64 * 1024;
    /// Of the arrays of one reply, together: each takes some 80 bytes, and six on the wire.
    static constexpr std::size_t elements_max = 256 * 1024;
    /// Arrays in arrays. From 1.0 on hiredis has no bound of its own, and frees them by recursion.
    static constexpr std::size_t depth_max = 7;

    /// Throws std::bad_alloc.
    reply_reader();
    reply_reader(const reply_reader&) = delete;
    reply_reader& operator=(const reply_reader&) = delete;

    void take(std::string_view bytes);

    /// @return the next complete reply; nothing if more bytes are needed, or if fault() says that no reply will come.
    [[nodiscard]] redis_reply next();

    /// Why what came is no reply, or is too large; empty if all is well. Nothing can be read from then on.
    [[nodiscard]] const std::string& fault() const noexcept { return fault_; }

  private:
    [[nodiscard]] std::string_view unread() const noexcept;
};

}  // namespace seriesgate
