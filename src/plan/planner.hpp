/// One decoded request in, one plan out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "claim/known_counts.hpp"
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

class questions;
class series_limiter;
struct told;
struct untold;
class untold_series;

/// Walks a request, fingerprints its series, has them decided and says what to forward. Between the two halves of it,
/// read() and decide(), and as long as the plan is used, it belongs to that one request. Uses its buffers again for the
/// next.
/// Threads: one at a time; planners of different threads share one limiter.
class planner : public label_source {
    /// Of the buffers for an entry that is refused: its index (twice), verdict, limit and range, its place among the
    /// distinct ones.
    static constexpr std::size_t decided_entry_bytes = 88;
    /// The same where labels are ignored, of one with a value of its own: that as offered, its place, verdict
    /// and indices.
    static constexpr std::size_t ignored_entry_bytes = 48;
    /// What read_on() does at once: so many bytes are read, or as many times less labels sorted, in about a
    /// millisecond.
    static constexpr std::size_t step_bytes = 1u << 20;
    static constexpr std::size_t unordered_label_bytes = 64;
    /// Entries after which it looks how far it is. One has 1024 labels at most.
    static constexpr int entries_at_once = 8;

    /// What the decision does not need to know about an entry.
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
    /// Of an entry, where labels are ignored.
    struct ignored_part {
        std::uint64_t value = 0;           ///< of its ignored labels, as a fingerprint; 0: it has none
        std::uint64_t series_with_it = 0;  ///< fingerprint of the series if they count
    };
    /// A value of ignored_ that stands in one run of entries, then one that is in values_.
    struct value_place {
        std::uint64_t value;
        std::uint32_t at;  // of the entry, then in values_
        bool admits;
    };
    std::vector<ignored_part> ignored_;      // as long as offered_, or empty
    std::vector<value_place> value_places_;  // different ones, by value
    std::vector<offered_series> values_;     // the same, in the order of the body
    std::vector<verdict> value_verdicts_;
    lookup_result value_scratch_;
    entry_share beyond_values_;
    std::vector<left_out_entry> left_out_;
    entry_counts left_out_counts_;
    std::vector<verdict> verdicts_;  // when it has been decided: as long as offered_
    std::vector<byte_range> removed_;
    std::vector<refused_entry> told_;
    limit_shares refused_by_;
    limit_shares observed_by_;
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
    bool is_read_ = false;        // a sound request that has not been decided about yet
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

    /// Both halves at once.
    /// @param body decoded, of the given version; must outlive the use of the plan.
    /// @return the plan, or what is wrong with the body; then nothing has been decided or counted.
    result<plan, wire_error> operator()(bytes_view body, series_limiter& limiter, time_point now,
                                        std::string_view tenant = {}, protocol version = protocol::v1);

    /// The first half, for who wants to know what the second one takes: reads all of the body.
    /// @return what is wrong with it; its code is wire_errc::none if nothing is.
    wire_error read(bytes_view body, std::string_view tenant, protocol version);
    /// The same step by step, for who has others to serve: begin(), then read_on() until it says false, then
    /// read_error().
    void begin(bytes_view body, std::string_view tenant, protocol version);
    /// Reads for about a millisecond. @return whether there is more to read.
    bool read_on();
    [[nodiscard]] wire_error read_error() const noexcept {
        return version_ == protocol::v2 ? reader_v2_.error() : reader_.error();
    }
    /// In a fleet, between the two: what the shared store is to be asked.
    /// @param at_once says which incumbents are accepted without asking; null: none.
    /// @param aside gets those that it is to be told of afterwards; its tenant is the request's.
    /// @param counted see questions::ask.
    /// @return what asks too much of the rules; its code is wire_errc::none if nothing does.
    wire_error ask(series_limiter& limiter, time_point now, std::string_view tenant, questions& to_ask,
                   untold_series* at_once, untold& aside, const known_counts& counted = {});
    /// In a fleet, behind ask(): which series the shared store is to be told of that `said` lets pass out of a share.
    void owe(const told& said, untold& aside) const;
    /// In a fleet, in place of decide(): decides by what the store has told about all that ask() has asked.
    result<plan, wire_error> hear(series_limiter& limiter, time_point now, std::string_view tenant, const told& said);
    /// The second half: decides about what has been read.
    /// @return the plan, or that the request asks too much of the rules; then nothing has been decided or counted.
    result<plan, wire_error> decide(series_limiter& limiter, time_point now, std::string_view tenant);

    /// What is held for the body that has been read, and may come to be for deciding about it (but for
    /// selection_bytes_max). Bounded: some fifty times the body's size when its entries are as short as can be, one or
    /// two times for what senders send.
    [[nodiscard]] std::size_t bytes() const noexcept;

    /// When the plan is not needed any more: gives the memory of a giant back.
    void shrink();

    [[nodiscard]] std::size_t entry_count() const noexcept { return entries_.size(); }
    /// By entry.
    [[nodiscard]] std::span<const offered_series> offered() const noexcept { return offered_; }
    [[nodiscard]] std::uint64_t fingerprint_at(std::size_t index) const noexcept { return offered_[index].fingerprint; }
    [[nodiscard]] const byte_range& record_of(std::size_t index) const noexcept { return entries_[index].record; }
    /// Precondition: it has been decided.
    [[nodiscard]] verdict verdict_of(std::size_t index) const noexcept { return verdicts_[index]; }
    /// Precondition: it is refused, and not for being unknown.
    [[nodiscard]] limit_number limit_of(std::size_t index) const noexcept { return scratch_.refused_by[index]; }

    /// The labels of an entry of the last body. @return valid until the next call.
    std::span<const label_view> labels(std::size_t index) override;
    /// Of an entry that was left out: the first labels_per_series_max. @return valid until the next call.
    std::span<const label_view> labels(const left_out_entry& of) { return labels_of(of.record); }

  private:
    histogram_family family(std::span<const label_view> labels) override;
    std::span<const label_view> labels_of(byte_range record);
    void leave_out(byte_range record, const left_out_series& series);
    void note_ignored(const series_view& series);
    void find_values();
    void tell_values_apart(series_limiter& limiter, time_point now, std::string_view tenant);
    template <class Reader>
    bool read_some(Reader& reader);
    template <class Reader>
    void take(const Reader& reader);
    result<plan, wire_error> collect_if(bool settled);
    plan collect();
    void remove_left_out();
    void begin_refused(std::size_t index);
    void note_observed();
    void note_beyond();
    [[nodiscard]] refusal refusal_at(std::size_t index) const;
    [[nodiscard]] refused_entry entry_at(std::size_t index, refusal by) const;
    [[nodiscard]] body_action what_is_left() const noexcept;
};

}  // namespace seriesgate
