/// Fleet: series that this gate accepted without waiting for the shared store, and must still report to it.
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

/// Series of one request, with all that is needed to ask the store and commit after the request has ended.
struct untold {
    std::string tenant{};
    std::vector<offered_series> series{};  ///< without samples: already decided
    lookup_result open{};                  ///< all of them are pending
    bool owed = false;                     ///< admitted without a fleet decision, so the store keeps no room for them

    [[nodiscard]] std::size_t bytes() const noexcept;
};

/// Whether any series of the decision must be reported to the store.
[[nodiscard]] bool owes_any(const told& said) noexcept;

/// Collects the new series with outcome told_outcome::owed: accepted without an answer, to be reported later.
/// @param open the selections, `said` the decision about them; both stay unchanged.
/// @param aside gets the series; its tenant is the request's.
void set_aside_owed(std::span<const offered_series> offered, const lookup_result& open, const told& said,
                    untold& aside);

/// The unreported series of all requests, so that each is reported once, however often it arrives meanwhile. Bounded;
/// for one hour, in which the store keeps room for each of them. Threads: any.
class untold_series {
    /// 9 to 18 bytes per fingerprint.
    using set_kind = boost::unordered_flat_set<std::uint64_t>;
    struct listed {
        std::chrono::sys_seconds hour{};
        std::shared_ptr<const compiled_rules> rules{};
        bool accepts = false;
        set_kind series{};
    };

    mutable guarded<listed, std::mutex> all_;
    const std::size_t series_max_;

  public:
    enum class entry : std::uint8_t {
        refused,  ///< must wait for the fleet decision like new series
        added,    ///< may be accepted if the caller reports it
        there,    ///< is accepted already, and still unreported
    };

    explicit untold_series(std::size_t series_max) : series_max_(series_max) {}

    /// From now on, accepts incumbents of this hour selected by these rules. Drops series of an earlier hour: they
    /// cannot be reported any more.
    void accept(const window_span& hour, std::shared_ptr<const compiled_rules> rules);
    void stop();

    /// Whether an incumbent may be accepted at once. The caller reports each added one, then calls remove().
    entry add(const window_span& hour, const compiled_rules& rules, std::uint64_t fingerprint);
    /// Removes series that were reported, or never will be.
    void remove(const window_span& hour, std::span<const offered_series> told);

    /// Removes series that other gates have reported. @return how many were waiting to be reported.
    std::size_t strike(const window_span& hour, std::span<const std::uint64_t> fingerprints);
    /// Keeps a request's unreported series pending and drops the others.
    /// @param one of the current hour, and added here.
    void keep_untold(untold& one) const;

    [[nodiscard]] std::size_t size() const;
};

}  // namespace seriesgate
