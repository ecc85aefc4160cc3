/// What the web configuration means for who asks.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "access/keyed_digest.hpp"
#include "access/password_queue.hpp"
#include "config/web_config.hpp"

namespace seriesgate {

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

}  // namespace seriesgate
