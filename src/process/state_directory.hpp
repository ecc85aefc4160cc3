/// The state directory: locked by one process, with files that are never half-written, and the secret.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "core/state_stream.hpp"
#include "net/descriptor.hpp"

namespace seriesgate {

/// A directory, held open and locked by its file `lock`.
///
/// All access uses the descriptor, not the path: hold() notices a replaced directory, and no write reaches it. Opens
/// only regular files, follows no links, never blocks on a FIFO or device. File mode 0600, directory 0700.
///
/// Functions throw std::runtime_error with one readable line. Threads: one at a time.
class state_directory {
    std::filesystem::path path_;
    descriptor directory_;
    descriptor lock_;

  public:
    /// Creates the directory if missing, and locks it.
    explicit state_directory(std::filesystem::path path);

    /// Whether the path still leads to the locked directory and lock.
    [[nodiscard]] bool is_held() const noexcept;
    /// Call it before writing. Throws if another process has locked the path, or another non-empty directory is there.
    /// @return whether directory or lock was gone: both are recreated, but the old content is lost.
    [[nodiscard]] bool hold();

    /// Releases the lock. No writes until take_back().
    void give_up() noexcept { lock_ = {}; }
    /// Locks it again. Throws if another process holds it; hold() then tries again.
    void take_back() { take(); }

    /// @return a descriptor for reading; none if the file is missing. Throws if it is no regular file.
    [[nodiscard]] std::optional<descriptor> open(std::string_view name) const;

    /// @return the content; none if the file is missing. Throws if it is longer than `size_max`.
    [[nodiscard]] std::optional<std::string> read(std::string_view name, std::size_t size_max) const;

    /// Writes the content. @return false to cancel. Throws std::system_error on failure.
    using writer = std::function<bool(int)>;
    /// Replaces a file atomically: writes `name`.new, syncs it, renames it, and syncs the directory. @return false if
    /// canceled; then, and on an exception, the old file stays.
    bool replace(std::string_view name, const writer& write) const;

    [[nodiscard]] std::string path_of(std::string_view name) const { return (path_ / name).string(); }

  private:
    void take();
};

/// Writes everything. @return the error.
std::error_code write_all(int fd, std::string_view bytes) noexcept;

// --- The random secret of this installation's hash key.

/// Fresh random bytes of the minimum length. Throws std::runtime_error.
std::string random_secret();

/// The content of a file shared by several gates (`fingerprint.secretFile`), at least hash_key::random_bytes_min long.
/// Throws std::runtime_error with one readable line.
std::string read_secret(const std::string& path);

/// The content of the file `secret`, created with mode 0600 if missing. Throws as read_secret().
std::string kept_secret(const state_directory& directory);

void keep_secret(const state_directory& directory, const std::string& secret);

/// The file `observed`, always whole or absent. Holds cardinality and demand, on which no decision depends. Separate
/// from `state`, so that a fault in one does not affect the other. Threads: one at a time.
///
/// Format: "SGSEEN1\n", format version (4 bytes), the secret's identity (8 bytes, see hash_key::identity; other hashes
/// would be useless), the parts, and the XXH3-64 of everything before it.
class cardinality_file {
  public:
    /// Raise it when a part changes its format. Other versions are refused.
    static constexpr std::uint32_t format_version = 1;
    /// Bounds the read; all parts are smaller.
    static constexpr std::size_t bytes_max = 128u << 20;

    cardinality_file(const state_directory& directory, std::uint64_t secret) : directory_(directory), secret_(secret) {}

    /// Skips an unchanged content. Throws std::runtime_error with one readable line.
    /// @param write called once, for all parts.
    void save(const std::function<void(state_encoder&)>& write);

    /// @param read called once for a whole file; on false it must have changed nothing.
    /// @return why the file was not used, one line; empty if used or missing.
    [[nodiscard]] std::string load(const std::function<bool(state_decoder&)>& read) const;

  private:
    const state_directory& directory_;
    std::uint64_t secret_;
    std::uint64_t saved_ = 0;  // checksum of the last save
};

}  // namespace seriesgate
