/// From what a request has left open to claims, and from their answers to what the limiter is told.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "claim/claim.hpp"
#include "claim/known_counts.hpp"
#include "claim/request_budgets.hpp"
#include "limit/offered.hpp"
#include "limit/told.hpp"
#include "limit/undecided.hpp"

namespace seriesgate {

/// What one request asks the shared store: about pending series that a shared limit may refuse, and about markers of
/// series that this gate does not know. Everything else its gate decides by itself.
///
/// Series with the same budgets come together, so the store works out their room once; within those their order is
/// kept. Uses its memory again for the next request. Threads: one at a time.
class questions {
    /// Budgets that some series of the request have in common, and those series.
    struct group {
        std::vector<request_budgets::applying> budgets;
        std::vector<std::uint32_t> series;  ///< places in undecided::pending
        /// Its first budget that is known to be spent: nobody is asked.
        std::optional<std::uint32_t> spent_place = std::nullopt;
        std::vector<heard_budget> known{};     ///< what is known of its budgets then
        std::vector<std::uint64_t> unasked{};  ///< the fingerprints of its series then
    };
    /// A run of a claim.
    struct asked_run {
        const group* of = nullptr;  ///< null: it looks for followers
        std::uint32_t first = 0;    ///< in group::series, or in the request's followers
    };

    /// Where a budget of the request has been named last.
    struct naming {
        std::size_t in = 0;  ///< the claim: the first is 1
        std::uint8_t place = 0;
    };

    request_budgets budgets_;
    std::vector<group> groups_;
    std::vector<std::uint32_t> followers_;  ///< places in undecided::followers
    std::vector<claim> claims_;
    std::vector<std::vector<asked_run>> runs_;  ///< of each claim
    std::vector<naming> named_;                 ///< of request_budgets::all()
    std::vector<heard_budget> heard_;           ///< what told_series point to
    std::shared_ptr<const compiled_rules> rules_;
    claim_terms terms_;
    window_span hour_;
    std::size_t pending_count_ = 0;
    std::size_t follower_count_ = 0;
    std::size_t unasked_count_ = 0;

  public:
    /// What is held for one series, at most, beside what its budgets take: see selection_bytes_max.
    static constexpr std::size_t series_bytes_max = 160;

    /// @param key of the installation, the same at all gates.
    explicit questions(const hash_key& key) : budgets_(key) {}

    /// Before another request: nothing is asked.
    void start() noexcept;
    /// @param open looked up and selected.
    /// @param knows whether this gate knows a marker's series.
    /// @param counted of no budget, or for series with a budget that is known to be spent in the hour: nobody is asked
    /// about them. claim.lua would refuse them too, incumbents or not, for all series that fill the budget are known
    /// here. A budget that may have to share another one has a count of its own only when it has not.
    void ask(std::span<const offered_series> offered, const undecided& open, std::string_view tenant,
             const std::function<bool(std::uint64_t)>& knows, const known_counts& counted = {});

    /// To be answered in this order. Empty if the gate needs nobody.
    [[nodiscard]] std::span<const claim> claims() const noexcept { return claims_; }
    /// Series that are refused without being asked about.
    [[nodiscard]] std::size_t unasked_count() const noexcept { return unasked_count_; }
    /// By which they are to be answered: the hour is that of the lookups, the buckets are not known here.
    [[nodiscard]] const claim_terms& terms() const noexcept { return terms_; }

    /// What becomes of a series that nobody has answered about, or that was refused: nothing if the answer stands.
    /// @param budgets all that it counts in; none if it is refused without having been asked about.
    using second_opinion = std::function<std::optional<told_outcome>(
        std::uint64_t fingerprint, std::span<const claimed_budget* const> budgets, bool is_answered)>;

    /// @param answers as claims(), decided ones; nothing for one without an answer.
    /// @param unanswered what becomes of the series of those: withheld or let_pass.
    /// @param besides is asked about those, and about series that are refused. May be empty.
    /// @return valid until the next ask().
    [[nodiscard]] told tell(std::span<const std::optional<claim_answer>> answers, told_outcome unanswered,
                            const second_opinion& besides = {});

    /// As tell() when no claim is answered.
    [[nodiscard]] told tell_nothing(told_outcome unanswered);

    /// Gives the memory of a giant back.
    void shrink();

  private:
    void group_by_budgets(const undecided& open, std::string_view tenant);
    void find_spent(std::span<const offered_series> offered, const undecided& open, const known_counts& counted);
    void make_claims(std::span<const offered_series> offered, const undecided& open);
    claim& claim_with_room(std::span<const request_budgets::applying> budgets, std::vector<std::uint8_t>& places);
    void tell_run(const asked_run& run, const claim_run& as, std::span<const series_answer> series,
                  const claim_answer* answer, told_outcome unanswered, told& into);
    void tell_spent(const group& of, const second_opinion& besides, told& into);
    void ask_besides(const asked_run& run, const claim& of, const claim_run& as, std::size_t first,
                     const second_opinion& besides, bool is_answered, told& into) const;
};

}  // namespace seriesgate
