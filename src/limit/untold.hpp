/// Incumbents that a gate of a fleet has accepted without waiting, and of which it has yet to tell the shared store.
#pragma once

#include <boost/unordered/unordered_flat_set.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/synchronization.hpp"
#include "limit/lookup_result.hpp"
#include "limit/verdict.hpp"
#include "limit/window.hpp"

namespace seriesgate {

struct compiled_rules;

/// Those of one request: all that it takes to ask about them and to settle them when the request is long gone.
struct untold {
    std::string tenant{};
    std::vector<offered_series> series{};  ///< without samples: these have been decided about
    lookup_result open{};                  ///< all of them are pending
    bool owed = false;                     ///< no place is kept for them: they were let pass out of a share

    /// What is held for it.
    [[nodiscard]] std::size_t bytes() const noexcept;
};

/// Whether the store is to be told of any of them.
[[nodiscard]] bool owes_any(const told& said) noexcept;

/// What a request's newcomers owe that were let pass although nobody has answered: told_outcome::owed.
/// @param open what was selected, `said` is about; both are left as they are.
/// @param aside gets them; its tenant is the request's.
void set_aside_owed(std::span<const offered_series> offered, const lookup_result& open, const told& said,
                    untold& aside);

/// Those of all requests, by fingerprint: each is told once, however often it comes meanwhile. Bounded; of one hour, in
/// which the store keeps a place for each of them.
/// Threads: any.
class untold_series {
    /// Of fingerprints, in 9 to 18 bytes each.
    using series_set = boost::unordered_flat_set<std::uint64_t>;
    struct listed {
        std::chrono::sys_seconds hour{};
        std::shared_ptr<const compiled_rules> rules{};
        bool accepts = false;
        series_set series{};
    };

    mutable guarded<listed, std::mutex> all_;
    const std::size_t series_max_;

  public:
    enum class entry : std::uint8_t {
        refused,  ///< it has to wait as newcomers do
        added,    ///< it may be accepted if the store is told
        there,    ///< it has been accepted and is untold
    };

    explicit untold_series(std::size_t series_max) : series_max_(series_max) {}

    /// From now on incumbents of the hour may be added that were selected by these rules. What is left of an earlier
    /// hour is forgotten: nobody can be told any more.
    void accept(const window_span& hour, std::shared_ptr<const compiled_rules> rules);
    /// From now on none is added.
    void stop();

    /// Whether an incumbent of that hour may be accepted at once. Whoever adds one has it told, and removes it then.
    entry add(const window_span& hour, const compiled_rules& rules, std::uint64_t fingerprint);
    /// They have been told, or never will be.
    void remove(const window_span& hour, std::span<const offered_series> told);

    /// Other gates have told of these.
    /// @return how many of them were to be told.
    std::size_t strike(const window_span& hour, std::span<const std::uint64_t> fingerprints);
    /// Keeps those of a request that are yet to be told: the others are pending no longer.
    /// @param one of that hour; was added here.
    void keep_untold(untold& one) const;

    [[nodiscard]] std::size_t size() const;
};

}  // namespace seriesgate
