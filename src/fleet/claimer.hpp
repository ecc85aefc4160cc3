/// Asks the shared store what a request wants to know.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "claim/questions.hpp"
#include "fleet/fleet_shared.hpp"
#include "net/async.hpp"
#include "net/fair_queue.hpp"
#include "redis/redis_client.hpp"

namespace seriesgate {

/// One worker's way to the store. Claims of many requests are under way at once, those of one request one after the
/// other. Nothing is waited for longer than shared.timeout, all claims of a request together.
/// Threads: the worker's.
class claimer {
    fleet_shared& shared_;
    redis_client client_;
    fair_queue turns_;
    std::vector<share_charge> charges_;  // of the series that is looked at

  public:
    using clock = monotonic_clock;

    claimer(net::io_context& io, fleet_shared& shared);

    /// Call it every second.
    void maintain();

    /// @param of what the request asks; it may ask nothing.
    /// @return what the limiter is to be told. Nothing if the hour was over for the store: then all is to be looked up
    /// and asked anew, by fleet_shared::now().
    /// @param may_owe whether what a share lets pass can be told afterwards.
    net::awaitable<std::optional<told>> ask(questions& of, std::string_view tenant, bool may_owe);

    /// What became of a claim, or of all of some questions.
    enum class end : std::uint8_t { decided, closed, unanswered };

    /// As ask(), for what nobody waits for: each claim has shared.timeout for itself.
    /// @param owed they were let pass out of a share; else they were accepted at once.
    /// @param answers as many as there are claims; gets those of them, up to the first that is not decided.
    net::awaitable<end> ask_patiently(const questions& of, std::string_view tenant, bool owed,
                                      std::vector<std::optional<claim_answer>>& answers);

    /// What becomes of series that nobody has answered about, but for those that a share lets pass.
    [[nodiscard]] told_outcome without_answer() const noexcept;

  private:
    [[nodiscard]] std::optional<told_outcome> out_of_share(std::uint64_t fingerprint,
                                                           std::span<const claimed_budget* const> budgets,
                                                           std::int64_t hour, bool may_be_added);
    [[nodiscard]] claim_terms terms_of(const questions& of) const;
    net::awaitable<end> ask_one(const claim& one, claim_terms terms, std::string_view tenant, clock::time_point limit,
                                std::optional<claim_answer>& answer);
    net::awaitable<std::optional<claim_answer>> send(const claim& one, const claim_terms& terms,
                                                     std::string_view tenant, clock::time_point limit);
    told tell(questions& of, const std::vector<std::optional<claim_answer>>& answers, bool may_owe);
    void count(const questions& of, const std::vector<std::optional<claim_answer>>& answers);
};

}  // namespace seriesgate
