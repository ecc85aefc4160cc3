/// Finds the label limits that apply to each series, and the keys of its groups in them.
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

/// Work allowed for the new series of one request, in units of just under a nanosecond. Ten thousand new series, 64
/// limits, each with a regular expression over 60 bytes and a group, take nine tenths of it.
inline constexpr std::uint64_t rule_work_max = 240'000'000;

/// Memory allowed for selections, in bytes: one and a half times what these ten thousand series need.
inline constexpr std::size_t selection_bytes_max = 72u << 20;

/// Evaluates selectors, without the commit lock. Reused from request to request.
///
/// Bounded for any request. Each label is read once for all rules. A regular expression is not evaluated again on the
/// same value as before. Keys that are too long are not copied. All work counts against rule_work_max and
/// selection_bytes_max. Threads: one at a time.
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
        bool is_ignored_value = false;  // then only the limit of ignored values is selected
        bool exempt = false;            // then the exempt limit comes first; the others apply beyond it
        bool beyond_exemption = false;

        void end_exemption() noexcept {
            assert(exempt);
            exempt = false;
            beyond_exemption = true;
            ++selected_begin;
            --selected_count;
        }
    };
    struct last_match {
        bytes_view value;
        bool known = false;
        bool accepted = false;
    };

    std::vector<series> series_;
    std::vector<selected> selected_;
    std::string keys_;
    std::uint64_t work_left_ = rule_work_max;
    bool over_ = false;  // the work limit was exceeded

    std::vector<bytes_view> values_;      // by number of the label (rule_labels); empty between two series
    std::vector<std::uint32_t> present_;  // numbers of labels with a value
    std::vector<last_match> matches_;     // by position, see rule_labels
    std::vector<selected> last_keys_;     // by limit

  public:
    class one {
        const rule_selections* all_;
        series series_;

      public:
        one(const rule_selections& all, const series& of) noexcept : all_(&all), series_(of) {}

        /// Whether this is an ignored value instead of a series: only the limit of ignored values applies.
        [[nodiscard]] bool is_ignored_value() const noexcept { return series_.is_ignored_value; }
        /// Whether only a limit of the gate itself applies, not the global limit and not the tenant's.
        [[nodiscard]] bool is_apart() const noexcept { return series_.exempt || series_.is_ignored_value; }
        [[nodiscard]] bool exempt() const noexcept { return series_.exempt; }
        /// Whether the rules exempt the series, but other limits decide.
        [[nodiscard]] bool is_beyond_exemption() const noexcept { return series_.beyond_exemption; }
        /// The other limits of an exempt series, for when the exempt limit is full. Precondition: exempt().
        [[nodiscard]] one without_exemption() const noexcept {
            one made = *this;
            made.series_.end_exemption();
            return made;
        }
        [[nodiscard]] std::size_t size() const noexcept { return series_.exempt ? 1 : series_.selected_count; }
        [[nodiscard]] std::size_t limit_index(std::size_t i) const noexcept { return at(i).limit; }
        /// The tenant (for limits per tenant) and the group's label values, joined unambiguously.
        /// @return nothing if they are too long for a budget of their own: the overflow budget applies.
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

    /// Starts another request or other rules. Drops all pointers into the labels.
    /// @param work what may be spent until the next call.
    void clear(std::uint64_t work = rule_work_max) noexcept;
    [[nodiscard]] std::uint64_t work_left() const noexcept { return over_ ? 0 : work_left_; }
    /// Adds a series.
    /// @param rules the same from one clear() to the next.
    /// @param labels must stay valid until clear().
    /// @return false if the request exceeds its work or memory; then nothing may be decided by this selection.
    bool append(const compiled_rules& rules, std::string_view tenant, std::span<const label_view> labels);
    /// Adds an ignored value. @return as append().
    bool append_ignored_value(const compiled_rules& rules, std::string_view tenant);
    void end_exemption(std::size_t i) noexcept { series_[i].end_exemption(); }
    /// Uses up work. @return false if none is left.
    bool spend(std::uint64_t work) noexcept;
    [[nodiscard]] one operator[](std::size_t i) const noexcept {
        assert(i < series_.size());
        return {*this, series_[i]};
    }
    [[nodiscard]] std::size_t size() const noexcept { return series_.size(); }
    void shrink();

  private:
    bool find_values(const rule_labels& asked, std::span<const label_view> labels);
    void forget_values() noexcept;
    bool is_exempt(const compiled_rules& rules);
    bool matches(const rule_labels& asked, const selector& of, std::size_t position);
    bool accepts(const label_matcher& matcher, bytes_view value, std::size_t position);
    void select(const compiled_rules& rules, std::string_view tenant, std::size_t limit);
    /// Calls visit(part) for each part of the series' key in the limit.
    template <class Visit>
    void visit_key(const compiled_rules& rules, std::string_view tenant, std::size_t limit, const Visit& visit) const;
};

/// Whether any of the selected limits could refuse a series of this tenant.
bool is_limited(const compiled_rules& rules, std::string_view tenant, const rule_selections::one& selection);
/// The cost of is_limited(), in units of rule_work_max: it looks up overrides.
std::uint64_t override_work(const compiled_rules& rules, const rule_selections::one& selection) noexcept;
/// The cost of a series' histogram, in the same units: all its labels are sorted and hashed.
std::uint64_t histogram_work(std::span<const label_view> labels) noexcept;

}  // namespace seriesgate
