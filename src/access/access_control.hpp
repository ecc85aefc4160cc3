/// Who may ask, and for which tenant, while the gate runs.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "access/access_rules.hpp"
#include "access/bad_passwords.hpp"
#include "access/keyed_digest.hpp"
#include "access/password_queue.hpp"
#include "config/web_config.hpp"
#include "core/synchronization.hpp"

namespace seriesgate {

/// Threads: any, but for check_next.
class access_control {
    const digest_key key_;
    published<access_rules> rules_;
    std::atomic<bool> asks_;
    std::mutex writing_;  // of rules_

    std::mutex guard_;
    bad_passwords bad_;  // under guard_
    password_queue queue_;

  public:
    using clock = password_queue::clock;

    /// How long a password may wait to be checked; who asks need not wait longer.
    static constexpr std::chrono::seconds wait_max{10};

    /// Throws std::runtime_error if there are no random bytes.
    explicit access_control(const web_config& from);

    /// Whether anything has to be asked at all. A load of one atomic.
    [[nodiscard]] bool asks() const noexcept { return asks_.load(std::memory_order_relaxed); }

    /// Requests that have been let in go on.
    void take_over(const web_config& next);

    /// The rules of now, for a short look.
    [[nodiscard]] published<access_rules>::reader rules() const noexcept { return rules_.read(); }

    /// At once. What is `unchecked` is for ask(); once that has said yes it is to be decided again.
    access_decision decide(const access_question& asked, clock::time_point now = clock::now());

    /// Has a password checked.
    /// @return false if too many wait already.
    bool ask(std::string_view peer, password_question question, password_queue::listener asking,
             clock::time_point now = clock::now());

    /// A check that said no is followed by a rest of so many times what it took: who knows no password gets a quarter
    /// of a processor, from however many addresses, while a check takes less than a third of rest_max.
    static constexpr int rests_after_wrong = 3;
    /// And no longer: what comes next may be right.
    static constexpr std::chrono::seconds rest_max{2};

    /// @param notify is called for each password that is to be checked from now on.
    void when_asked(std::function<void()> notify) { queue_.when_added(std::move(notify)); }
    /// Checks the password whose turn it is, which takes a while.
    /// @return how long to rest then; nothing where none waits. Threads: one.
    std::optional<clock::duration> check_next();

  private:
    clock::duration check_order(const password_queue::order& order);
    password_verdict check(const password_question& asked);
    bool is_right(const password_question& asked);
    bool is_known_bad(const digest& of, clock::time_point now);
};

}  // namespace seriesgate
