/// The labels that rules look at, numbered, so that a series' labels are gone through once for all rules together.
#pragma once

#include <cassert>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/bytes.hpp"
#include "limit/rules.hpp"
#include "series/label.hpp"
#include "series/selector.hpp"

namespace seriesgate {

/// Where the rules find what they ask for. Made with them, immutable; any thread may read it.
class rule_labels {
    struct text_hash {
        using is_transparent = void;
        std::size_t operator()(bytes_view text) const noexcept { return std::hash<bytes_view>{}(text); }
    };
    // Its keys are the configuration's: nobody else can make them collide.
    std::unordered_map<std::string, std::uint32_t, text_hash, std::equal_to<>> numbers_;
    std::size_t name_bytes_max_ = 0;
    std::vector<std::uint32_t> numbers_asked_;  // by all selectors and limits, one after the other
    std::vector<std::size_t> begins_;           // in numbers_asked_

  public:
    rule_labels(std::span<const label_limit> limits, std::span<const selector> exempt);

    /// Of labels: as many numbers there are.
    [[nodiscard]] std::size_t size() const noexcept { return numbers_.size(); }
    /// Of what the matchers and limits ask for, together: bounds `first_asked() + i`.
    [[nodiscard]] std::size_t asked_count() const noexcept { return numbers_asked_.size(); }

    /// @return the label's number, or size() if no rule asks for it.
    [[nodiscard]] std::size_t number_of(bytes_view name) const noexcept {
        if (name.size() > name_bytes_max_) return size();
        const auto found = numbers_.find(name);
        return found == numbers_.end() ? size() : found->second;
    }

    /// What a part of the rules asks for, in its own order: an exempt selector's matchers, those of a limit, and the
    /// labels that make a limit's groups. As positions: see number().
    [[nodiscard]] std::size_t of_exempt(std::size_t i) const noexcept { return begins_[i]; }
    [[nodiscard]] std::size_t of_match(std::size_t limit) const noexcept { return begins_[exempt_count_ + 2 * limit]; }
    [[nodiscard]] std::size_t of_each(std::size_t limit) const noexcept {
        return begins_[exempt_count_ + 2 * limit + 1];
    }
    /// The label asked for at a position.
    [[nodiscard]] std::uint32_t number(std::size_t position) const noexcept {
        assert(position < numbers_asked_.size());
        return numbers_asked_[position];
    }

  private:
    std::size_t exempt_count_ = 0;

    void ask(bytes_view name);
};

}  // namespace seriesgate
