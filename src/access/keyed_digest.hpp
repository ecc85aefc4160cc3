/// What is kept and compared in place of secrets.
#pragma once

#include <array>
#include <initializer_list>
#include <string_view>

namespace seriesgate {

using digest = std::array<unsigned char, 32>;

/// Whether they are the same, in a time that does not tell where they differ.
bool same_digest(const digest& one, const digest& other) noexcept;

/// Makes digests with a key of its own, random at each start: they are worth nothing to who finds them, and nobody can
/// choose texts by what becomes of them. HMAC-SHA256. Threads: any.
class digest_key {
    std::array<unsigned char, 32> key_;

  public:
    /// Throws std::runtime_error if there are no random bytes.
    digest_key();

    /// Of several texts; where one ends and the next begins counts, too. Throws std::bad_alloc.
    [[nodiscard]] digest of(std::initializer_list<std::string_view> texts) const;
};

}  // namespace seriesgate
