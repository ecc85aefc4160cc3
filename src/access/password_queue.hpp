/// Passwords that wait to be checked.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "access/keyed_digest.hpp"
#include "core/secret_text.hpp"
#include "system/clock.hpp"

namespace seriesgate {

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
