/// A small file whose text may change while the gate runs.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/result.hpp"

namespace seriesgate {

/// Reads the file again only if something about it has changed (its inode, size or times), or if it was written so
/// lately that its times would not tell. Waits for the disk. Threads: one at a time.
class text_file {
    struct stamp {
        std::uint64_t device;
        std::uint64_t inode;
        std::uint64_t bytes;
        std::chrono::system_clock::time_point changed;

        bool operator==(const stamp&) const = default;
    };

    std::string path_;
    std::string text_;
    std::optional<stamp> read_;  // nothing until it can be relied upon

  public:
    static constexpr std::size_t bytes_max = 1 << 20;

    explicit text_file(std::string path) : path_(std::move(path)) {}

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    /// As it was when it was last read; empty if it never was.
    [[nodiscard]] const std::string& text() const noexcept { return text_; }

    /// @return whether the text is another one now; or why it cannot be read, and then text() stays.
    [[nodiscard]] result<bool, std::string> refresh();
};

}  // namespace seriesgate
