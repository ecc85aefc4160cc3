/// What makes the hashes of this installation its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/bytes.hpp"

namespace seriesgate {

/// The secret that every hash of a name, a value or a tenant depends on. Without it, who chooses label values could
/// work out which of them collide: XXH3 of eight bytes can be inverted in half a millisecond.
///
/// Copies share the secret. Threads: any.
class hash_key {
  public:
    /// What XXH3 wants; it is made from the random bytes so that each of them counts for texts of every length.
    static constexpr std::size_t secret_bytes = 192;
    /// A key as long as a text, for hashes that spend it byte by byte.
    static constexpr std::size_t long_secret_bytes = 4'096 + 64;
    /// Fewer random bytes could be tried out.
    static constexpr std::size_t random_bytes_min = 32;

    /// @param random at least random_bytes_min bytes, from the system's generator or a file.
    /// Source: github.com/Cyan4973/xxHash, XXH3_generateSecret.
    explicit hash_key(bytes_view random);

    /// One that everybody knows: for tests, benchmarks, and readers whose hashes nobody keeps.
    static const hash_key& known_to_all();

    /// secret_bytes of them, for XXH3_64bits_withSecret and its kin.
    [[nodiscard]] const unsigned char* secret() const noexcept { return secrets_->secret.data(); }
    /// long_secret_bytes of them.
    [[nodiscard]] const unsigned char* long_secret() const noexcept { return secrets_->long_secret.data(); }
    /// Of a text, for tables whose keys senders choose: with a hash that they know they could fill one bucket.
    [[nodiscard]] std::size_t operator()(bytes_view text) const noexcept;
    /// Tells keys apart without giving them away.
    [[nodiscard]] std::uint64_t identity() const noexcept;

  private:
    struct secrets {
        std::array<unsigned char, secret_bytes> secret;
        alignas(64) std::array<unsigned char, long_secret_bytes> long_secret;
    };
    std::shared_ptr<const secrets> secrets_;
};

}  // namespace seriesgate
