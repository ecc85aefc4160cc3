/// From what a request has left open to claims, and from their answers to what the limiter is told.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "claim/claim.hpp"
#include "claim/known_counts.hpp"
#include "claim/known_histograms.hpp"
#include "claim/request_budgets.hpp"
#include "limit/lookup_result.hpp"
#include "limit/verdict.hpp"

namespace seriesgate {

/// What one request asks the shared store: about pending series that a shared limit may refuse, and about markers of
/// series that this gate does not know. Everything else its gate decides by itself.
///
/// Series with the same budgets come together, so the store works out their room once; within those their order is
/// kept. Uses its memory again for the next request. Threads: one at a time.
class questions {
    /// When series are asked about, where histograms are kept whole.
    enum class turn : std::uint8_t {
        first,
        begun,   ///< so, too; histograms that have begun, and incumbents: spent budgets do not refuse all of them
        second,  ///< sums and counts, when it is clear what becomes of the buckets
    };
    /// Budgets that some series of the request have in common, and those series.
    struct group {
        turn when = turn::first;
        std::vector<request_budgets::applying> budgets;
        std::vector<std::uint32_t> series;  ///< places in lookup_result::pending
        /// Its first budget that is known to be spent: nobody is asked.
        std::optional<std::uint32_t> spent_place = std::nullopt;
        std::vector<heard_budget> known{};     ///< what is known of its budgets then
        std::vector<std::uint64_t> unasked{};  ///< the fingerprints of its series then
    };
    /// A series that nobody is asked about because its histogram is refused.
    struct refused_one {
        std::uint32_t at = 0;                 ///< in lookup_result::pending
        std::optional<std::uint32_t> like{};  ///< see told_series
        refusing_window window = refusing_window::hourly;
    };
    /// What has become of a histogram in the first turn.
    struct histogram_fate {
        bool is_accepted = false;  ///< any series of it
        refused_one like{};        ///< else, the first of those refused
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
    std::span<const offered_series> offered_;
    const lookup_result* open_ = nullptr;
    std::vector<group> groups_;
    std::vector<group> late_groups_;  ///< of those in groups_ whose turn is the second: what is asked of them
    std::vector<refused_one> refused_;
    bool has_rest_ = false;                 ///< some have the second turn, which has not come
    std::size_t claims_closed_ = 0;         ///< nothing is added to these any more
    std::vector<std::uint32_t> followers_;  ///< places in lookup_result::followers
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
    static constexpr std::size_t series_bytes_max = 240;

    /// @param key of the installation, the same at all gates.
    explicit questions(const hash_key& key) : budgets_(key) {}

    /// Before another request: nothing is asked.
    void start() noexcept;
    /// @param offered, open outlive the last ask_rest(); `open` is looked up and selected.
    /// @param knows whether this gate knows a marker's series.
    /// @param counted of no budget, or for series with a budget that is known to be spent in the hour: nobody is asked
    /// about them. claim.lua would refuse them too, incumbents or not, for all series that fill the budget are known
    /// here. A budget that may have to share another one has a count of its own only when it has not.
    /// @param histograms where they are kept whole: what is known of them. Without it, all is asked at once.
    void ask(std::span<const offered_series> offered, const lookup_result& open, std::string_view tenant,
             const std::function<bool(std::uint64_t)>& knows, const known_counts& counted = {},
             const known_histograms& histograms = {});
    /// When the claims are answered, or nobody answers: asks what depends on it. A refused bucket refuses the sum and
    /// the count of its histogram, as series_commit.hpp does at a gate alone.
    /// @param answers as claims(); nothing for one without an answer.
    /// @return whether there may be more claims now, behind the others. To be called until there are none.
    bool ask_rest(std::span<const std::optional<claim_answer>> answers);

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

    /// When ask_rest() has no more.
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
    [[nodiscard]] histogram_family family_at(std::uint32_t at) const noexcept;
    [[nodiscard]] std::uint64_t fingerprint_at(std::uint32_t at) const noexcept;
    [[nodiscard]] std::optional<turn> turn_of(std::uint32_t at, const known_histograms& histograms) const;
    void group_by_budgets(std::string_view tenant, const known_histograms& histograms);
    void find_spent(const known_counts& counted, const known_histograms& histograms);
    void leave_unasked(group& spent);
    using fates = std::unordered_map<std::uint64_t, histogram_fate>;
    [[nodiscard]] fates fates_of(std::span<const std::optional<claim_answer>> answers) const;
    void ask_late(group& of, const fates& by_family);
    void add_runs(const group* of, std::span<const request_budgets::applying> budgets,
                  std::span<const std::uint32_t> series, std::span<const std::uint32_t> entries);
    claim& claim_with_room(std::span<const request_budgets::applying> budgets, std::vector<std::uint8_t>& places);
    void tell_run(const asked_run& run, const claim_run& as, std::span<const series_answer> series,
                  const claim_answer* answer, told_outcome unanswered, told& into);
    void tell_spent(const group& of, const second_opinion& besides, told& into);
    void tell_refused(const second_opinion& besides, told& into) const;
    void ask_besides(const asked_run& run, const claim& of, const claim_run& as, std::size_t first,
                     const second_opinion& besides, bool is_answered, told& into) const;
};

}  // namespace seriesgate
