/// Which label limits apply to each of some series, and the keys of their groups in them.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes.hpp"
#include "limit/rules.hpp"
#include "series/label.hpp"
#include "series/selector.hpp"

namespace seriesgate {

/// What may be spent on the rules for the new series of one request, in units of somewhat less than a nanosecond: ten
/// thousand new series times 64 limits with a regular expression over 60 bytes and a group each take nine tenths of it.
inline constexpr std::uint64_t rule_work_max = 240'000'000;

/// The memory that selections may take, in bytes: what those ten thousand series come to, and half as much again.
inline constexpr std::size_t selection_bytes_max = 72u << 20;

/// Reused from request to request. Selectors are evaluated here and nowhere else, without the commit lock.
///
/// Bounded, whatever a request is made of: each label is looked at once for all rules, a regular expression is not
/// matched again with the value that it has just been matched with (as symbols of remote write 2 repeat), a key that is
/// too long is not copied, and all that is done is counted (rule_work_max, selection_bytes_max).
///
/// Threads: one at a time.
class rule_selections {
    struct selected {
        std::size_t key_begin;
        std::uint32_t key_size;  // key_overlong: no key
        std::uint32_t limit;     // index in compiled_rules::limits
    };
    static constexpr std::uint32_t key_overlong = UINT32_MAX;

    struct series {
        std::size_t selected_begin;
        std::uint32_t selected_count;
        bool is_ignored_value = false;  // then the only one selected is the limit of those
        bool exempt = false;  // then the first selected is its own limit, and it needs room in the others beyond that
        bool beyond_exemption = false;

        void end_exemption() noexcept {
            assert(exempt);
            exempt = false;
            beyond_exemption = true;
            ++selected_begin;
            --selected_count;
        }
    };
    /// What a regular expression has said last.
    struct last_match {
        bytes_view value;
        bool known = false;
        bool accepted = false;
    };

    std::vector<series> series_;
    std::vector<selected> selected_;
    std::string keys_;
    std::uint64_t work_left_ = rule_work_max;
    bool over_ = false;  // more has been asked for than there was left

    std::vector<bytes_view> values_;      // of the labels that the rules number, empty between two series
    std::vector<std::uint32_t> present_;  // numbers of those that are not empty
    std::vector<last_match> matches_;     // by position, see rule_labels
    std::vector<selected> last_keys_;     // by limit

  public:
    /// What applies to one series.
    class one {
        const rule_selections* all_;
        series series_;

      public:
        one(const rule_selections& all, const series& of) noexcept : all_(&all), series_(of) {}

        /// It is no series, but a value of labels that tell none apart: only the limit of these applies.
        [[nodiscard]] bool is_ignored_value() const noexcept { return series_.is_ignored_value; }
        /// Only a limit of the gate itself applies, and neither the global one nor that of the tenant.
        [[nodiscard]] bool is_apart() const noexcept { return series_.exempt || series_.is_ignored_value; }
        /// Then only the limit of exempt series applies.
        [[nodiscard]] bool exempt() const noexcept { return series_.exempt; }
        /// The rules exempt it, but it is decided as others are.
        [[nodiscard]] bool is_beyond_exemption() const noexcept { return series_.beyond_exemption; }
        /// The same series where the limit of exempt series has no room. Precondition: exempt().
        [[nodiscard]] one without_exemption() const noexcept {
            one made = *this;
            made.series_.end_exemption();
            return made;
        }
        [[nodiscard]] std::size_t size() const noexcept { return series_.exempt ? 1 : series_.selected_count; }
        [[nodiscard]] std::size_t limit_index(std::size_t i) const noexcept { return at(i).limit; }
        /// The tenant (if the limit has budgets by tenant) and the group's label values, unambiguously joined.
        /// @return nothing if they are too long to have a budget of their own: the overflow budget is theirs.
        [[nodiscard]] std::optional<std::string_view> key(std::size_t i) const noexcept {
            if (at(i).key_size == key_overlong) return std::nullopt;
            return std::string_view{all_->keys_}.substr(at(i).key_begin, at(i).key_size);
        }

      private:
        [[nodiscard]] const selected& at(std::size_t i) const noexcept {
            assert(i < size());
            return all_->selected_[series_.selected_begin + i];
        }
    };

    /// Before the series of another request, or under other rules. Forgets the labels that it has been shown.
    void clear() noexcept;
    /// Adds a series at the end.
    /// @param rules the same from one clear() to the next.
    /// @param labels must stay where they are until clear().
    /// @return false if the series have asked for more than they may: then nothing may be decided by this selection.
    bool append(const compiled_rules& rules, std::string_view tenant, std::span<const label_view> labels);
    /// Adds a value of labels that tell no series apart. @return as append().
    bool append_ignored_value(const compiled_rules& rules, std::string_view tenant);
    /// Adds at the end what applies to another series.
    /// @param other not of these, and not exempt.
    void append(const one& other);
    /// Moves what applies to a series forward: it stands in the place of another one then.
    void move(std::size_t from, std::size_t to) noexcept;
    /// An exempt one is decided as others are from here on.
    void end_exemption(std::size_t i) noexcept { series_[i].end_exemption(); }
    /// Keeps the first ones.
    void truncate(std::size_t count);
    /// Takes from what the series may ask for. @return false if nothing is left.
    bool spend(std::uint64_t work) noexcept;
    [[nodiscard]] one operator[](std::size_t i) const noexcept {
        assert(i < series_.size());
        return {*this, series_[i]};
    }
    [[nodiscard]] std::size_t size() const noexcept { return series_.size(); }
    /// What is held for them.
    [[nodiscard]] std::size_t bytes() const noexcept;
    /// Gives the memory of a giant back; clears.
    void shrink();

  private:
    bool find_values(const rule_labels& asked, std::span<const label_view> labels);
    void forget_values() noexcept;
    bool is_exempt(const compiled_rules& rules);
    bool matches(const rule_labels& asked, const selector& of, std::size_t position);
    bool accepts(const label_matcher& matcher, bytes_view value, std::size_t position);
    void select(const compiled_rules& rules, std::string_view tenant, std::size_t limit);
    [[nodiscard]] std::size_t key_bytes(const compiled_rules& rules, std::string_view tenant, std::size_t limit) const;
    void put_key(const compiled_rules& rules, std::string_view tenant, std::size_t limit);
};

/// Whether any limit could refuse a series of this tenant to which `selection` applies.
bool is_limited(const compiled_rules& rules, std::string_view tenant, const rule_selections::one& selection);
/// What is_limited costs beyond that, in units of rule_work_max: overrides are looked up.
std::uint64_t override_work(const compiled_rules& rules, const rule_selections::one& selection) noexcept;

}  // namespace seriesgate
