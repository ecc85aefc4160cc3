/// Authentication and authorization by the web configuration, while the gate runs.
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

#include "config/config.hpp"
#include "core/secret_text.hpp"
#include "core/synchronization.hpp"
#include "http/passwords.hpp"

namespace seriesgate {

// --- The Authorization header.

/// Bcrypt reads only the first 72 bytes, and real passwords are shorter.
inline constexpr std::size_t password_bytes_max = 128;
inline constexpr std::size_t token_bytes_max = 4096;

struct credentials {
    enum class kind : std::uint8_t {
        unreadable,  ///< another scheme, or none
        basic,
        bearer,
    };
    kind as = kind::unreadable;
    std::string user{};    ///< for basic
    secret_text secret{};  ///< the password or token
};

/// Parses one header value. Anything that cannot be a known credential is unreadable, also if it is too long.
/// Sources: RFC 9110, section 11.4; RFC 7617, section 2; RFC 6750, section 2.1.
credentials read_authorization(std::string_view value);

enum class access_side : std::uint8_t { ingestion, admin };

struct access_question {
    std::string_view path;
    access_side side = access_side::admin;
    std::optional<std::string_view> authorization{};  ///< the header; none if it occurs several times
    std::string_view certificate_name{};              ///< from a verified certificate; empty without one
    std::optional<std::string_view> tenant{};         ///< from the tenant header
};

enum class access_verdict : std::uint8_t {
    granted,
    unauthenticated,  ///< no credentials, or wrong ones
    forbidden,        ///< this user may not use this side
    foreign_tenant,   ///< this user writes for another tenant
    unchecked,        ///< needs a bcrypt check
};

struct access_decision {
    access_verdict is = access_verdict::granted;
    std::string user{};          ///< proven or claimed; empty: anonymous
    std::string bound_tenant{};  ///< the only tenant that the user may write; empty: any
    std::optional<password_question> unchecked{};
    bool authorization_is_ours = false;  ///< never forward the header to the store
};

/// Immutable, except for the passwords known to be right. Threads: any.
class access_rules {
    /// Written once: bcrypt accepts one password per hash.
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
    bool has_tokens_;  // true even if no token can be read
    std::optional<user_names> ingestion_users_;
    std::optional<user_names> admin_users_;
    std::map<std::string, std::string, std::less<>> tenants_;
    std::set<std::string, std::less<>> excluded_paths_;
    std::vector<std::pair<std::string, std::string>> answer_headers_;
    std::string hash_of_nobody_;
    const digest_key& key_;

  public:
    /// @param before its known right passwords stay known; may be null.
    access_rules(const web_config& from, const digest_key& key, const access_rules* before);

    /// Identifies the user and checks the rights. Does not know about recent wrong passwords; access_control does.
    [[nodiscard]] access_decision decide(const access_question& asked) const;

    [[nodiscard]] bool knows(const password_question& asked) const;

    /// Stores that a password is right, if its user still has that hash. Threads: one.
    void remember(const password_question& right) const;

    [[nodiscard]] bool has_users() const noexcept { return !basic_.empty() || has_tokens_; }
    [[nodiscard]] bool has_basic_users() const noexcept { return !basic_.empty(); }
    [[nodiscard]] bool has_tokens() const noexcept { return has_tokens_; }

    [[nodiscard]] const auto& answer_headers() const noexcept { return answer_headers_; }

  private:
    [[nodiscard]] access_decision admit(std::string user, const access_question& asked) const;
    [[nodiscard]] access_decision identify(const access_question& asked) const;
    [[nodiscard]] access_decision check_password(std::string user, std::string_view password) const;
    [[nodiscard]] const basic_user* user_of(const password_question& asked) const;
};

/// Decides about requests by the current rules, and checks passwords. Threads: any, except check_next().
class access_control {
    const digest_key key_;
    published<access_rules> rules_;
    std::atomic<bool> asks_;
    std::mutex writing_;  // of rules_

    std::mutex guard_;
    bad_passwords bad_;  // guarded by guard_

  public:
    using clock = password_queue::clock;

    password_queue queue;  ///< check_next() takes from it

    /// A password waits at most this long for its check, and so does the request.
    static constexpr std::chrono::seconds wait_max{10};

    /// Throws std::runtime_error without random bytes.
    explicit access_control(const web_config& from);

    /// Whether any rule exists. Loads one atomic.
    [[nodiscard]] bool asks() const noexcept { return asks_.load(std::memory_order_relaxed); }

    /// Replaces the rules. Requests already admitted continue.
    /// @param with called once nothing else can fail. If it throws, nothing has changed.
    void take_over(
        const web_config& next, const std::function<void()>& with = [] {});

    /// The current rules. Release the reader soon.
    [[nodiscard]] published<access_rules>::reader rules() const noexcept { return rules_.read(); }

    /// Does not wait. For an `unchecked` decision add to the queue; after the verdict `right` call decide() again.
    access_decision decide(const access_question& asked, clock::time_point now = clock::now());

    /// After a wrong password the checker rests this many times as long as the check took. So guessing uses at most a
    /// quarter of a core, from any number of addresses, while a check takes less than a third of rest_max.
    static constexpr int rests_after_wrong = 3;
    /// Bounds the rest, because the next password may be right.
    static constexpr std::chrono::seconds rest_max{2};

    /// Checks the next password; takes 50 ms and more.
    /// @return how long to rest afterwards; nothing if the queue was empty. Threads: one.
    std::optional<clock::duration> check_next();

  private:
    password_verdict check(const password_question& asked);
    bool is_right(const password_question& asked);
    bool is_known_bad(const digest& of, clock::time_point now);
};

}  // namespace seriesgate
