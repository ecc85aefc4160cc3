/// Turns one decoded request into a plan: reads it, has the limiter decide, and collects what to remove.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "claim/fleet_view.hpp"
#include "core/bytes.hpp"
#include "core/result.hpp"
#include "limit/lookup_result.hpp"
#include "limit/verdict.hpp"
#include "limit/window.hpp"
#include "plan/plan.hpp"
#include "series/fingerprint.hpp"
#include "wire/wire_error.hpp"
#include "wire/write_request.hpp"
#include "wire/write_request_v2.hpp"

namespace seriesgate {

struct request_tickets;
class store_questions;

/// A gate of a fleet, and a moment there.
struct fleet_moment {
    fleet_view& view;
    time_point now;  ///< of the fleet
    witnessed_clock::steady_point steady;
};

/// Reads a request, fingerprints its series, has them decided and says what to forward. From read() until the plan is
/// no longer used, it belongs to that request; the next one reuses its buffers.
/// Threads: one at a time; planners of different threads share one limiter.
class planner : public label_source {
    /// Buffer bytes for a refused entry: index (twice), verdict, limit, range, distinct-counter slot.
    static constexpr std::size_t decided_entry_bytes = 88;
    /// The same for an entry with its own ignored value: offered_series, place, verdict and indices.
    static constexpr std::size_t ignored_entry_bytes = 72;
    /// Work of one read_on(), about a millisecond: bytes read, or unordered labels sorted.
    static constexpr std::size_t step_bytes = 1u << 20;
    static constexpr std::size_t unordered_label_bytes = 64;
    /// Entries between two checks of that work. An entry has at most 1024 labels.
    static constexpr int entries_at_once = 8;

    /// Data of an entry that the limiter does not need.
    struct entry {
        byte_range record;
        std::uint32_t histograms;
        std::uint32_t exemplars;
    };

    write_request_reader reader_;
    write_request_v2_reader reader_v2_;
    label_hasher hasher_;
    std::vector<offered_series> offered_;
    std::vector<entry> entries_;  // as long as offered_
    /// Ignored labels of an entry.
    struct ignored_part {
        std::uint64_t value = 0;  ///< fingerprint of the ignored labels' values; 0: none
        bool is_apart = false;    ///< these labels distinguish the series: their limit has no room
        std::uint32_t place = 0;  ///< of the value, in values_
        /// A series with ignored labels has two fingerprints: with these labels and without. offered_ has the one that
        /// counts, by is_apart; this is the other.
        std::uint64_t other_fingerprint = 0;
    };
    std::vector<ignored_part> ignored_;                                     // as long as offered_, or empty
    std::vector<offered_series> values_;                                    // distinct, in the order of the body
    boost::unordered_flat_map<std::uint64_t, std::uint32_t> value_places_;  // in values_, by value
    std::vector<verdict> value_verdicts_;
    lookup_result value_scratch_;
    entry_share beyond_values_;
    std::vector<left_out_entry> left_out_;
    entry_counts left_out_counts_;
    std::vector<verdict> verdicts_;  // once decided: as long as offered_
    std::vector<byte_range> removed_;
    std::vector<refused_entry> quoted_;
    shares_by_limit<limit_share> refused_by_;
    std::vector<limit_share> observed_by_;
    std::vector<limit_share> beyond_;
    distinct_counter refused_series_;
    lookup_result scratch_;

    std::vector<label_view> labels_;  // of one entry
    hash_key key_;
    tenant_key tenant_;  // of the request
    std::uint32_t metadata_ = 0;
    std::uint32_t empty_entries_ = 0;  // see plan_counts
    protocol version_ = protocol::v1;
    std::size_t read_steps_ = 0;  // of the body, see read_some()
    bool is_read_ = false;        // a sound request that is not decided yet
    std::size_t symbol_bytes_max_;

  public:
    /// @param ignored_labels see label_hasher.
    /// @param symbol_bytes_max see write_request_v2_reader::reset.
    /// @param known see write_request_reader; may be null.
    explicit planner(const hash_key& key, const std::vector<std::string>& ignored_labels = {},
                     std::size_t symbol_bytes_max = symbol_bytes_per_request_max, label_hash_cache* known = nullptr)
        : reader_(label_hasher{key, ignored_labels}, known),
          reader_v2_(label_hasher{key, ignored_labels}),
          hasher_(key, ignored_labels),
          key_(key),
          symbol_bytes_max_(symbol_bytes_max) {}

    /// read() and decide() in one.
    /// @param body decoded, of the given version; must outlive the plan.
    /// @return the plan, or the body's error; then nothing but ignored values was decided or counted.
    result<plan, wire_error> operator()(bytes_view body, series_limiter& limiter, time_point now,
                                        std::string_view tenant = {}, protocol version = protocol::v1);

    /// Reads all of the body. @return its error; wire_errc::none if it is sound.
    wire_error read(bytes_view body, std::string_view tenant, protocol version);
    /// read() in steps, so that the thread can serve others: begin(), read_on() until false, read_error().
    void begin(bytes_view body, std::string_view tenant, protocol version);
    /// Reads for about a millisecond: to the end of an entry. One giant entry, or metadata alone, takes some tenths of
    /// a second. @return whether there is more to read.
    bool read_on();
    [[nodiscard]] wire_error read_error() const noexcept {
        return version_ == protocol::v2 ? reader_v2_.error() : reader_.error();
    }
    /// Fleet, between read() and apply_fleet_decision(): collects the questions for the shared store.
    /// @param holds the caller keeps it until apply_fleet_decision() has returned.
    /// @return an error if the rules need too much work; else wire_errc::none.
    wire_error collect_questions(series_limiter& limiter, const fleet_moment& at, std::string_view tenant,
                                 store_questions& to_ask, request_tickets& holds);
    /// Fleet, before apply_fleet_decision(): whether another hour or other rules are in force than when
    /// collect_questions() was called.
    [[nodiscard]] bool is_outdated(series_limiter& limiter, time_point now) const;
    /// Fleet, instead of decide(): applies the decision about all that collect_questions() collected.
    result<plan, wire_error> apply_fleet_decision(series_limiter& limiter, time_point now, std::string_view tenant,
                                                  const fleet_decision& by_fleet);
    /// Decides about the request.
    /// @param are_stored warm start: the store has the series already. Limits admit all, and count them, above their
    /// maxima too.
    /// @return the plan, or an error if the rules need too much work; then nothing was decided or counted.
    result<plan, wire_error> decide(series_limiter& limiter, time_point now, std::string_view tenant,
                                    bool are_stored = false);

    // Warm start.

    /// After read() of a request that only names series of a store. Keeps some of them, and counts no samples.
    /// @param is_kept called with a series' fingerprint; false drops the series.
    template <class IsKept>
    void keep_series(IsKept is_kept) {
        std::size_t left = 0;
        for (std::size_t i = 0; i < offered_.size(); ++i) {
            if (!is_kept(offered_[i].fingerprint)) continue;
            offered_[left] = offered_[i];
            offered_[left].samples = 0;
            entries_[left] = entries_[i];
            if (!ignored_.empty()) ignored_[left] = ignored_[i];
            ++left;
        }
        offered_.resize(left);
        entries_.resize(left);
        if (!ignored_.empty()) ignored_.resize(left);
    }
    /// Instead of decide(): accepts all series, and counts only those that were admitted before.
    plan pass(series_limiter& limiter, time_point now, std::string_view tenant);

    /// Upper bound of the size in remote write 1 of a body of remote write 2, which was read last. Metadata may name
    /// each metric once more.
    [[nodiscard]] std::size_t filled_in_bytes(bytes_view body) const noexcept {
        return body.size() + 2 * reader_v2_.symbol_bytes();
    }

    /// Memory held, or needed for deciding, in bytes (without selection_bytes_max). About fifty times the body for the
    /// shortest entries, once or twice for usual requests.
    [[nodiscard]] std::size_t bytes() const noexcept;

    /// Frees the memory of a giant request. Call it when the plan is no longer used.
    void shrink();

    [[nodiscard]] std::size_t entry_count() const noexcept { return entries_.size(); }
    [[nodiscard]] std::span<const offered_series> offered() const noexcept { return offered_; }
    [[nodiscard]] std::uint64_t fingerprint_at(std::size_t index) const noexcept { return offered_[index].fingerprint; }
    [[nodiscard]] const byte_range& record_of(std::size_t index) const noexcept { return entries_[index].record; }
    /// Precondition: decided.
    [[nodiscard]] verdict verdict_of(std::size_t index) const noexcept { return verdicts_[index]; }
    /// Precondition: is_refused().
    [[nodiscard]] limit_number limit_of(std::size_t index) const noexcept { return scratch_.refused_by[index]; }

    /// @return the labels of an entry of the last body, valid until the next call.
    std::span<const label_view> labels(std::size_t index) override;
    /// @return the first labels_per_series_max labels of an entry that was left out, valid until the next call.
    std::span<const label_view> labels(const left_out_entry& of) { return labels_of(of.record); }

  private:
    histogram_family family(std::size_t entry, std::span<const label_view> labels) override;
    std::span<const label_view> labels_of(byte_range record);
    void leave_out(byte_range record, const left_out_series& series);
    void note_ignored(const series_view& series);
    void find_values();
    void apply_ignored_values_limit(series_limiter& limiter, time_point now, request_origin origin);
    bool keep_apart(const series_limiter& limiter);
    template <class Reader>
    bool read_some(Reader& reader);
    template <class Reader>
    void take(const Reader& reader);
    result<plan, wire_error> collect_if(bool settled);
    plan collect();
    void remove_left_out();
    void note_refused(std::size_t index, plan_counts& counts);
    void note_observed();
    void note_beyond();
    [[nodiscard]] refused_entry entry_at(std::size_t index, refusal by) const;
    [[nodiscard]] body_action what_is_left() const noexcept;
};

/// The labels of a new series. First those with a value that no known series of the metric in the request has; then
/// those that differ from most other series. Common labels come last.
/// Compares up to 32 neighbouring entries and skips giants: it serves one log line or answer, but a sender may cause
/// many.
/// @param decided the request's planner; its labels() is used.
/// @param entry of a series that was refused, or admitted without room by an observing limit.
std::vector<label_view> distinguishing_first(planner& decided, std::size_t entry);

}  // namespace seriesgate
