/// Turns a request's open series into calls of the shared store, and the answers into a decision for the limiter.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "claim/fleet_rules.hpp"
#include "claim/fleet_view.hpp"
#include "claim/store_call.hpp"
#include "limit/lookup_result.hpp"
#include "limit/verdict.hpp"

namespace seriesgate {

/// What a request holds until it has committed what it was told.
struct request_tickets {
    fleet_view::ticket asking{};
    fleet_view::ticket accepting{};
};

/// What a gate knows without asking.
struct unasked_knowledge {
    const series_limiter& limiter;
    const fleet_view& view;
    std::int64_t hour;  ///< since the epoch, that is asked about
    /// Series of the hour before pass at once, and the store is told later. See gate_session::accepts and
    /// fleet_view::accept.
    bool accepts_incumbents;
    witnessed_clock::steady_point now;
};

/// What one request asks the shared store: about pending series that an enforced limit with a maximum applies to, and
/// about markers of series that this gate does not know. Series of observed limits, and of the hour before, pass.
///
/// Series with the same budgets come together, so the store works out their room once; within those their order is
/// kept. Uses its memory again for the next request. Threads: one at a time.
class store_questions {
    /// Whether and when a series is asked about. Only `first` and `second` heed budgets that are known to be spent.
    enum class turn : std::uint8_t {
        never,     ///< not asked about: it passes
        first,     ///< in the first round
        begun,     ///< it completes a histogram that has begun; in the second round if the first began it
        before,    ///< in the first round; an incumbent
        doubtful,  ///< in the first round; an incumbent that passes if there is no answer
        unsure,    ///< as doubtful; it also passes if only kept places stand in its way
        second,    ///< in the second round: a sum or count, which depends on its buckets
        look,      ///< in the first round; it admits nothing: does the store know it?
    };
    struct applying {
        std::uint32_t budget;  ///< in budgets_
        std::uint32_t place;   ///< see budget_table::find

        friend auto operator<=>(const applying&, const applying&) = default;
    };
    /// Budgets that some series of the request have in common, and those series.
    struct group {
        turn when = turn::first;
        std::vector<applying> budgets;
        std::vector<std::uint32_t> series;  ///< places in lookup_result::pending; of turn::look in its non_admitting
        /// Place of the first budget that is known to be spent. It refuses the series unasked, except those that
        /// complete a histogram.
        std::optional<std::uint32_t> spent_place = std::nullopt;
        std::vector<counted_budget> known{};   ///< the same budgets; hourly counts are from the feed, or 0
        std::vector<std::uint32_t> refused{};  ///< of `series`: members of histograms, refused in the first round
    };
    /// A series that is refused without being asked about, because its histogram is.
    struct refused_one {
        std::uint32_t at = 0;                 ///< in lookup_result::pending
        std::optional<std::uint32_t> like{};  ///< see pending_decision
        refusing_window window = refusing_window::hourly;
    };
    /// The outcome of a histogram in the first round.
    struct histogram_fate {
        bool is_accepted = false;  ///< any series of it
        refused_one like{};        ///< else, the first of those refused
    };
    /// A run of a call.
    struct asked_run {
        group* of = nullptr;
        std::uint32_t first = 0;  ///< in group::series
    };
    /// Where a budget of the request has been named last.
    struct naming {
        std::size_t in = 0;  ///< the call: the first is 1
        std::uint8_t place = 0;
    };

    fleet_rules rules_;
    std::span<const offered_series> offered_;
    const lookup_result* open_ = nullptr;
    std::vector<shared_budget> budgets_;                                     // of the request
    std::unordered_map<std::uint64_t, std::optional<std::uint32_t>> by_id_;  // in budgets_; nothing: not counted
    std::vector<group> groups_;
    std::vector<group> late_groups_;  ///< parts of groups_ that the second round asks about
    std::vector<refused_one> refused_;
    bool has_rest_ = false;         ///< a second round may be needed
    std::size_t calls_closed_ = 0;  ///< calls of the first round, once it is over: the second adds nothing to them
    std::vector<store_call> calls_;
    std::vector<std::vector<asked_run>> runs_;  ///< of each call
    std::vector<naming> named_;                 ///< of budgets_
    std::vector<counted_budget> counted_;       ///< pending_decision::budgets points into it
    window_span hour_;
    std::uint64_t losses_ = 0;
    std::size_t pending_count_ = 0;
    std::size_t follower_count_ = 0;
    std::size_t unasked_count_ = 0;

  public:
    /// What is held for one series, at most, beside what its budgets take: see selection_bytes_max.
    static constexpr std::size_t series_bytes_max = 240;

    /// @param key of the installation, the same at all gates.
    explicit store_questions(const hash_key& key) : rules_(key) {}

    /// Before another request: nothing is asked.
    void start() noexcept;
    /// @param offered, open must outlive the last ask_rest(); lookup() and select() have filled `open`.
    void ask(std::span<const offered_series> offered, const lookup_result& open, std::string_view tenant,
             const unasked_knowledge& known);
    /// The second round: asks what depends on the answers, once no more of them will come. An accepted series of a
    /// histogram begins it for the others. A refused bucket refuses the histogram's sum and count, as commit_series()
    /// does at a gate alone.
    /// @param answers one for each of calls(); nothing: no answer.
    /// @return whether there may be more calls now, behind the others. Send them and call it again, until it returns
    /// false.
    bool ask_rest(std::span<const std::optional<store_answer>> answers);

    /// To be sent in this order. Empty: the store is not needed.
    [[nodiscard]] std::span<const store_call> calls() const noexcept { return calls_; }
    /// Series that are refused without being asked about.
    [[nodiscard]] std::size_t unasked_count() const noexcept { return unasked_count_; }
    /// The hour in which the series are to be counted: that of lookup().
    [[nodiscard]] const window_span& hour() const noexcept { return hour_; }
    /// Describes the rules and the hour.
    void describe(gate_terms& into) const;

    /// Decides about a series without an answer: `passes` or `withheld`.
    /// @param budgets all that it counts in.
    using without_answer = std::function<decision_outcome(std::span<const shared_budget* const> budgets)>;

    /// Makes the decision. Call it after ask_rest() has returned false.
    /// @param answers one for each of calls(), with store_status::decided; nothing: no answer.
    /// @return valid until the next ask().
    [[nodiscard]] fleet_decision decide(std::span<const std::optional<store_answer>> answers,
                                        const without_answer& otherwise);

    /// Gives the memory of a giant back.
    void shrink();

  private:
    [[nodiscard]] histogram_family family_at(std::uint32_t at) const noexcept;
    [[nodiscard]] std::uint64_t fingerprint_at(std::uint32_t at) const noexcept;
    void find_budgets(const rule_selections::one& selection, std::string_view tenant, std::vector<applying>& found);
    void add_budget(const budget_role& role, std::optional<std::string_view> key, std::size_t place,
                    std::vector<applying>& found);
    [[nodiscard]] std::optional<turn> turn_of(std::uint32_t at, std::span<const applying> budgets,
                                              const unasked_knowledge& known) const;
    void group_by_budgets(std::string_view tenant, const unasked_knowledge& known);
    void find_spent(const unasked_knowledge& known);
    using fates = std::unordered_map<std::uint64_t, histogram_fate>;
    [[nodiscard]] fates fates_of(std::span<const std::optional<store_answer>> answers);
    void ask_again(group& of, const fates& by_family);
    void ask_late(group& of, const fates& by_family);
    void add_runs(group& of);
    store_call& call_with_room(std::span<const applying> budgets, std::vector<std::uint8_t>& places);
    void decide_run(const asked_run& run, const series_run& as, std::size_t first, const store_call& asked,
                    const store_answer* answer, const without_answer& otherwise, fleet_decision& into);
    void decide_unasked(const group& of, fleet_decision& into) const;
    [[nodiscard]] static bool passes_all_the_same(turn when, const series_decision& said, const store_call& asked,
                                                  const store_answer* answer) noexcept;
};

}  // namespace seriesgate
