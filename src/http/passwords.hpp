/// The queue of passwords to check, and the bcrypt check itself.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "core/secret_text.hpp"

namespace seriesgate {

using digest = std::array<unsigned char, 32>;

/// Compares in constant time.
bool same_digest(const digest& one, const digest& other) noexcept;

/// Keyed HMAC-SHA256, with a random key per process: a stolen digest is useless, and clients cannot provoke collisions.
/// Threads: any.
class digest_key {
    std::array<unsigned char, 32> key_;

  public:
    /// Throws std::runtime_error if the system gives no random bytes.
    digest_key();

    /// Includes the length of each text. Throws std::bad_alloc.
    [[nodiscard]] digest of(std::initializer_list<std::string_view> texts) const;
};

// --- Bcrypt, as in Prometheus' web configuration.

/// Bcrypt ignores all further bytes.
inline constexpr std::size_t bcrypt_bytes_max = 72;

/// Whether the password matches. Takes 2^cost rounds: 50 ms and more.
/// @param hash as accepted by load_web_config.
/// Threads: any; uses 32 KiB.
bool bcrypt_matches(const std::string& password, const std::string& hash);

int bcrypt_cost(const std::string& hash);

/// A hash without a known password.
std::string bcrypt_of_nobody(int cost);

/// Recent wrong passwords; a misconfigured sender repeats its one. Bounded, newest replaces oldest. Threads: one.
class bad_passwords {
  public:
    using clock = monotonic_clock;

    static constexpr std::size_t kept_max = 4096;
    static constexpr std::chrono::seconds kept_for{60};

    void insert(const digest& one, clock::time_point now) {
        if (!kept_.insert(one).second) return;
        order_.emplace_back(now + kept_for, one);
        if (order_.size() > kept_max) forget_oldest();
    }

    [[nodiscard]] bool contains(const digest& one, clock::time_point now) {
        while (!order_.empty() && order_.front().first <= now) forget_oldest();
        return kept_.contains(one);
    }

  private:
    void forget_oldest() {
        kept_.erase(order_.front().second);
        order_.pop_front();
    }

    std::set<digest> kept_;
    std::deque<std::pair<clock::time_point, digest>> order_;
};

struct password_question {
    digest of{};  ///< of user, hash and password
    std::string user;
    std::string hash;  ///< for an unknown user: one of the highest cost in use
    secret_text password;
    bool is_of_nobody = false;  ///< unknown user: the verdict is always wrong, after the same time
};

enum class password_verdict : std::uint8_t {
    wrong,
    right,
    unchecked,  ///< dropped for others, or not possible: the sender tries again
};

/// A bounded, fair queue. Peers take turns, each with at most orders_per_peer_max. In a full queue a new order replaces
/// the last one of the peer with most, so guessing blocks no others. Equal questions of a peer share one check.
/// Threads: any.
class password_queue {
  public:
    using clock = monotonic_clock;
    using listener = std::function<void(password_verdict)>;

    struct order {
        password_question question;
        std::vector<listener> asking;
        clock::time_point since;

        /// Calls all listeners. If one runs out of memory, its request times out.
        void give(password_verdict made) const noexcept;
    };

    static constexpr std::size_t orders_max = 256;
    static constexpr std::size_t orders_per_peer_max = 16;
    static constexpr std::size_t asking_max = 16;  ///< listeners per order

    /// The calling thread gives `unchecked` to an order that it replaces.
    /// @param peer the key for turns and for the share. @param asking gets the verdict.
    /// @return false if there is no room.
    bool add(std::string_view peer, password_question question, listener asking, clock::time_point now = clock::now());

    /// @return the next order; nothing if empty. Throws std::bad_alloc; then nothing has changed.
    std::optional<order> take();

    /// @param notify called for each order added from now on.
    void when_added(std::function<void()> notify) {
        const std::scoped_lock lock{guard_};
        notify_ = std::move(notify);
    }

  private:
    using lanes = std::map<std::string, std::deque<order>, std::less<>>;

    bool insert(std::string_view peer, order& fresh, std::optional<order>& dropped);
    std::optional<order> drop_one_of_longest(std::size_t own);

    mutable std::mutex guard_;
    std::function<void()> notify_ = [] {};
    lanes lanes_;       // by peer; none is empty
    std::string last_;  // the peer served last
    std::size_t size_ = 0;
};

}  // namespace seriesgate
