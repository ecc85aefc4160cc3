/// Who may ask, and for which tenant, while the gate runs.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/web_config.hpp"
#include "core/secret_text.hpp"
#include "core/synchronization.hpp"
#include "http/passwords.hpp"

namespace seriesgate {

// --- What the Authorization header says.

/// Bcrypt looks at the first 72 bytes. Real passwords are shorter; a longer one is not worth a look.
inline constexpr std::size_t password_bytes_max = 128;
inline constexpr std::size_t token_bytes_max = 4096;

struct credentials {
    enum class kind : std::uint8_t {
        unreadable,  ///< another scheme, or none at all
        basic,
        bearer,
    };
    kind as = kind::unreadable;
    std::string user{};    ///< of basic
    secret_text secret{};  ///< the password, or the token
};

/// Reads one value of the header. Whatever cannot be a credential of ours is unreadable, too long ones included.
/// Sources: RFC 9110, section 11.4; RFC 7617, section 2; RFC 6750, section 2.1.
credentials read_authorization(std::string_view value);

// --- What the web configuration means for who asks.

/// What a request is for.
enum class access_side : std::uint8_t { ingestion, admin };

/// What a request says of its sender.
struct access_question {
    std::string_view path;
    access_side side = access_side::admin;
    std::optional<std::string_view> authorization{};  ///< the header; nothing if there are several
    std::string_view certificate_name{};              ///< of a verified certificate; empty: there is none
    std::optional<std::string_view> tenant{};         ///< as the tenant header names it
};

enum class access_verdict : std::uint8_t {
    granted,
    unauthenticated,  ///< no credentials, or wrong ones
    forbidden,        ///< this user may not use this side
    foreign_tenant,   ///< this user writes for another tenant
    unchecked,        ///< it takes a bcrypt to know
};

struct access_decision {
    access_verdict is = access_verdict::granted;
    std::string user{};          ///< who it is, or claims to be; empty: nobody in particular
    std::string bound_tenant{};  ///< the only one that the user writes for; empty: any
    std::optional<password_question> unchecked{};
    bool authorization_is_ours = false;  ///< whatever it says, the store has no use for it
};

/// Immutable, but for what is remembered of right passwords. Threads: any.
class access_rules {
    /// Written once: a hash has one password, as far as bcrypt looks at it.
    struct right_password {
        std::atomic<bool> is_known{false};
        digest of{};
    };
    struct basic_user {
        std::string hash;
        mutable right_password right{};
    };

    std::map<std::string, basic_user, std::less<>> basic_;
    std::map<digest, std::string> tokens_;
    bool has_tokens_;  // also if there is none that anyone can have
    std::optional<user_names> ingestion_users_;
    std::optional<user_names> admin_users_;
    std::map<std::string, std::string, std::less<>> tenants_;
    std::set<std::string, std::less<>> excluded_paths_;
    std::vector<std::pair<std::string, std::string>> answer_headers_;
    std::string hash_of_nobody_;
    const digest_key& key_;

  public:
    /// @param before whose right passwords are still right; may be null.
    access_rules(const web_config& from, const digest_key& key, const access_rules* before);

    /// Who asks, and whether that may be. Whether a password is known to be wrong is not known here.
    [[nodiscard]] access_decision decide(const access_question& asked) const;

    /// Whether a password is known to be right.
    [[nodiscard]] bool knows(const password_question& asked) const;

    /// Remembers that a password is right, if its user still has that hash. Threads: one.
    void remember(const password_question& right) const;

    /// Whether requests have to bring an Authorization header of ours.
    [[nodiscard]] bool has_users() const noexcept { return !basic_.empty() || has_tokens_; }
    [[nodiscard]] bool has_basic_users() const noexcept { return !basic_.empty(); }
    [[nodiscard]] bool has_tokens() const noexcept { return has_tokens_; }

    /// What every answer has.
    [[nodiscard]] const auto& answer_headers() const noexcept { return answer_headers_; }

  private:
    [[nodiscard]] access_decision judge(const access_question& asked) const;
    [[nodiscard]] access_decision admit(std::string user, const access_question& asked) const;
    [[nodiscard]] access_decision identify(const access_question& asked) const;
    [[nodiscard]] access_decision check_password(std::string user, std::string_view password) const;
    [[nodiscard]] const basic_user* user_of(const password_question& asked) const;
};

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
