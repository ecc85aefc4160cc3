/// Which series are looked at while there are many, so that each stands for as many as are not.
#pragma once

#include <bit>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstddef>
#include <cstdint>

#include "core/state_stream.hpp"

namespace seriesgate {

/// The first series are all looked at, each once. When there are too many to remember, every second one is left out
/// from then on, and what is looked at stands for two; then for four. Who is left out is known by its fingerprint, so
/// that it is the same series each time: what is refused again and again counts once.
///
/// So work and memory stay bounded, and the sum of all that is said is the number of distinct series: exactly up to
/// kept_max, in the mean beyond. A talker with n of them has a standard error of less than sqrt(n w), where w is the
/// weight by then. Source: Gibbons and Tirthapura, "Estimating simple functions on the union of data streams", 2001.
/// Threads: one at a time.
class thinning {
    std::size_t kept_max_;
    boost::unordered_flat_set<std::uint64_t> kept_{};
    unsigned level_ = 0;

  public:
    static constexpr unsigned level_max = 40;
    static constexpr std::uint64_t weight_max = std::uint64_t{1} << level_max;

    /// @param kept_max fingerprints that are remembered, at most: some 16 bytes each.
    explicit thinning(std::size_t kept_max) : kept_max_(kept_max) {}

    /// @param fingerprint keyed: its bits are nobody's to choose.
    /// @return for how many series it stands; 0 if it is left out, or was looked at before.
    std::uint64_t weigh(std::uint64_t fingerprint) {
        if (is_left_out(fingerprint) || kept_.contains(fingerprint)) return 0;
        if (kept_.size() == kept_max_) thin_out();
        if (is_left_out(fingerprint) || kept_.size() == kept_max_) return 0;
        kept_.insert(fingerprint);
        return weight();
    }

    /// At a level: the weight is 2^level.
    static bool is_left_out(std::uint64_t fingerprint, unsigned level) noexcept {
        return static_cast<unsigned>(std::countl_zero(fingerprint)) < level;
    }
    [[nodiscard]] unsigned level() const noexcept { return level_; }
    /// For how many a series stands that comes now.
    [[nodiscard]] std::uint64_t weight() const noexcept { return std::uint64_t{1} << level_; }

    /// For who has no time to look at so many.
    void raise_to(unsigned level) {
        if (level <= level_) return;
        level_ = level < level_max ? level : level_max;
        forget_left_out();
    }

    /// What a restart must not forget.
    void save(state_encoder& out) const {
        out.number(static_cast<std::uint32_t>(level_));
        out.number(static_cast<std::uint64_t>(kept_.size()));
        for (const std::uint64_t each : kept_) out.number(each);
    }
    void load(state_decoder& in) {
        level_ = in.number<std::uint32_t>();
        if (level_ > level_max) in.fail();
        const std::uint64_t count = in.count(kept_max_);
        if (!in.has(count * sizeof(std::uint64_t))) return;
        kept_.clear();
        for (std::uint64_t i = 0; i < count && in.good(); ++i) kept_.insert(in.number<std::uint64_t>());
    }

    void clear() noexcept {
        kept_.clear();
        level_ = 0;
    }

  private:
    /// The lowest bits choose places in tables.
    [[nodiscard]] bool is_left_out(std::uint64_t fingerprint) const noexcept {
        return is_left_out(fingerprint, level_);
    }
    void thin_out() {
        while (kept_.size() == kept_max_ && level_ < level_max) {
            ++level_;
            forget_left_out();
        }
    }
    void forget_left_out() {
        boost::unordered::erase_if(kept_, [this](std::uint64_t each) { return is_left_out(each); });
    }
};

}  // namespace seriesgate
