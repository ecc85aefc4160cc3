/// Who the series of one window are of: the top metrics, labels, values and senders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/state_stream.hpp"
#include "series/fingerprint.hpp"
#include "series/label.hpp"
#include "talkers/space_saving.hpp"
#include "talkers/talker_table.hpp"
#include "talkers/watched_metrics.hpp"

namespace seriesgate {

/// Where a request comes from.
struct request_sender {
    std::string_view tenant{};
    std::string_view address{};  ///< of the peer
    std::string_view agent{};    ///< its User-Agent
};

/// For how many series one stands that is looked at, see thinning.hpp.
struct looked_at_weights {
    std::uint64_t counted = 1;  ///< in the tables
    std::uint64_t watched = 0;  ///< label by label; 0: it is not
};

/// Counts series of one kind (new, or refused) in one window. Memory is bounded whatever comes: some 8 MiB at worst,
/// where every name is as long as is kept.
///
/// Threads: one at a time.
class talker_tables {
  public:
    static constexpr std::size_t metrics_max = 1024;
    static constexpr std::size_t names_max = 256;  ///< of other tables

    /// @param labels whose values are counted: their names. There is a table for each.
    talker_tables(std::span<const std::string> labels, const hash_key& hash);

    void count(std::span<const label_view> labels, const request_sender& sender, looked_at_weights weights,
               time_point now);

    /// So many series more that nobody looked at: every count may be wrong by them.
    void miss(std::uint64_t series) noexcept { missed_ += series; }

    [[nodiscard]] const talker_table& metrics() const noexcept { return metrics_; }
    [[nodiscard]] const talker_table& senders() const noexcept { return senders_; }
    [[nodiscard]] const space_saving& tenants() const noexcept { return tenants_; }
    /// @return null if values of that label are not counted.
    [[nodiscard]] const talker_table* values_of(std::string_view label) const noexcept;
    [[nodiscard]] const watched_metrics& watched() const noexcept { return watched_; }
    /// All metrics of a tenant as one: a label that many metrics have a few series of.
    [[nodiscard]] const watched_metrics& watched_tenants() const noexcept { return watched_tenants_; }
    /// Estimates of how many names there are.
    [[nodiscard]] std::uint64_t distinct_metrics() const { return distinct(metric_names_); }
    [[nodiscard]] std::uint64_t distinct_tenants() const { return distinct(tenant_names_); }
    /// Series that were counted, each once.
    [[nodiscard]] std::uint64_t total() const noexcept { return tenants_.total(); }
    /// Whether total() is no estimate.
    [[nodiscard]] bool is_exact() const noexcept { return weights_max_.counted == 1 && missed_ == 0; }
    /// By how much a talker's count in one of these tables may be wrong, more or less: what its summary says, and four
    /// standard errors where not every series was looked at.
    [[nodiscard]] std::uint64_t error_of(const talker& one) const noexcept;
    [[nodiscard]] std::uint64_t error_of_watched(const talker& one) const noexcept;

    /// Adds the counts of another window: of two hours each series counts in both.
    void merge(const talker_tables& other);
    void clear() noexcept;

    void save(state_encoder& out) const;
    /// Of tables with the same labels; damage makes the decoder fail, and leaves anything in these.
    void load(state_decoder& in);

  private:
    [[nodiscard]] std::uint64_t distinct(const small_sketch& of) const {
        return estimate_values(of.estimate(), looked_at_, total()).values;
    }

    hash_key hash_;
    talker_table metrics_{metrics_max}, senders_{names_max};
    space_saving tenants_{names_max};
    small_sketch metric_names_, tenant_names_;
    looked_at_weights weights_max_{.counted = 1, .watched = 1};
    std::uint64_t looked_at_ = 0, missed_ = 0;  // series
    watched_metrics watched_{watched_metrics::metrics_max};
    watched_metrics watched_tenants_{watched_metrics::tenants_max};
    struct label_table {
        std::string name{};
        talker_table values{names_max};
    };
    std::vector<label_table> labels_;
};

}  // namespace seriesgate
