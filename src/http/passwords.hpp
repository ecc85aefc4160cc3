/// Passwords that wait to be checked.
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

// --- What is kept and compared in place of secrets.

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

// --- Passwords as Prometheus hashes them.

/// The bytes that it looks at; what is behind them counts for nothing.
inline constexpr std::size_t bcrypt_bytes_max = 72;

/// Whether this is the password. Takes 2^cost rounds: 50 ms and more.
/// @param hash of the form that load_web_config lets pass.
/// Threads: any; 32 KiB of memory while it works.
bool bcrypt_matches(const std::string& password, const std::string& hash);

/// The cost of a hash. @param hash as above.
int bcrypt_cost(const std::string& hash);

/// A hash that no password is known for.
std::string bcrypt_of_nobody(int cost);

// --- Passwords that proved wrong a short while ago.

/// A sender with a wrong password comes again and again with the same one. Bounded: the oldest goes for the newest.
/// Threads: one.
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

    [[nodiscard]] std::size_t size() const noexcept { return kept_.size(); }

  private:
    void forget_oldest() {
        kept_.erase(order_.front().second);
        order_.pop_front();
    }

    std::set<digest> kept_;
    std::deque<std::pair<clock::time_point, digest>> order_;
};

/// What is asked of a password.
struct password_question {
    digest of{};  ///< of user, hash and password
    std::string user;
    std::string hash;  ///< of a user who does not exist: some other's
    secret_text password;
    bool is_of_nobody = false;  ///< there is no such user: the answer is no, whatever it takes
};

enum class password_verdict : std::uint8_t {
    wrong,
    right,
    unchecked,  ///< it made room for others, or could not be checked: whoever asked comes again
};

/// Bounded, and fair: peers take turns, and none has more than its share, so that who tries many passwords keeps
/// nobody else from a first one: where all have asked for more than is taken, the last question of who has most makes
/// room. Who asks for what is asked for already shares the answer. Threads: any.
class password_queue {
  public:
    using clock = monotonic_clock;
    using listener = std::function<void(password_verdict)>;

    struct order {
        password_question question;
        std::vector<listener> asking;
        clock::time_point since;

        /// Who cannot be told, for want of memory, waits in vain.
        void give(password_verdict made) const noexcept;
    };

    static constexpr std::size_t orders_max = 256;
    static constexpr std::size_t orders_per_peer_max = 16;
    static constexpr std::size_t asking_max = 16;  ///< who share an answer

    /// What makes room is told so by this thread.
    /// @param peer who shares a share.
    /// @return false if there is no room.
    bool add(std::string_view peer, password_question question, listener asking, clock::time_point now);

    /// @return the next; nothing where none waits. Throws std::bad_alloc, and has changed nothing then.
    std::optional<order> take();

    /// @param notify is called for each that is added from now on.
    void when_added(std::function<void()> notify) {
        const std::scoped_lock lock{guard_};
        notify_ = std::move(notify);
    }

    [[nodiscard]] std::size_t size() const;

  private:
    using lanes = std::map<std::string, std::deque<order>, std::less<>>;

    bool insert(std::string_view peer, order& fresh, std::optional<order>& dropped);
    order take_next();
    std::optional<order> drop_one_of_longest(std::size_t own);

    mutable std::mutex guard_;
    std::function<void()> notify_ = [] {};
    lanes lanes_;       // of those who have asked; none is empty
    std::string last_;  // who had its turn
    std::size_t size_ = 0;
};

}  // namespace seriesgate
