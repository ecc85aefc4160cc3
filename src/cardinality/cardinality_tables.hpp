/// Who the series of one window are of: the top metrics, labels, values and senders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cardinality/space_saving.hpp"
#include "core/state_stream.hpp"
#include "filter/distinct_sketch.hpp"
#include "series/fingerprint.hpp"
#include "series/label.hpp"

namespace seriesgate {

// --- Of the metrics with the most series: which labels have how many values, and who sends them.

/// A label of one metric.
struct watched_label {
    std::string name{};
    std::uint64_t key = 0;        ///< hash of the name
    std::uint64_t series = 0;     ///< that have it,
    std::uint64_t error = 0;      ///< or at most so many fewer
    std::uint64_t looked_at = 0;  ///< of them, see thinning.hpp
    small_sketch values{};        ///< of those that were looked at
};

/// Of one metric, what its series look like.
struct watched_metric {
    static constexpr std::size_t labels_max = 24;
    static constexpr std::size_t names_max = 8;

    std::vector<watched_label> labels{};  ///< those that most series have; without the metric's name
    space_saving jobs{names_max};
    space_saving senders{names_max};

    void merge(const watched_metric& other);
    void save(state_encoder& out) const;
    void load(state_decoder& in);
};

/// How many different values a label has.
struct value_count {
    std::uint64_t values = 0;  ///< the estimate
    std::uint64_t least = 0;   ///< but for the errors of a sketch it is between these two
    std::uint64_t most = 0;
    bool is_exact = false;  ///< they were few, and all were looked at
};
/// Of D values with k series each, a part 1 - (1 - p)^k is among a part p of the series: that is solved for D. Right
/// but for the error of the sketch where all series were looked at, where each series has a value of its own, and where
/// there are few values; elsewhere as right as values have the same number of series.
/// @param seen the sketch's estimate. @param looked_at of so many @param series.
value_count estimate_values(std::uint64_t seen, std::uint64_t looked_at, std::uint64_t series);
/// The same of a label.
/// @param scale to the number of series that the metric has, where somebody knows it better: those that were looked at
/// stand for so many times more.
value_count count_values(const watched_label& label, double scale = 1);

/// The same is done with all metrics of a tenant as one, without a name: see cardinality_tables.
/// Threads: one at a time.
class watched_metrics {
    space_saving metrics_;
    std::vector<watched_metric> watched_{};  // by place

  public:
    /// Some 50 KiB each at worst.
    static constexpr std::size_t metrics_max = 48;
    static constexpr std::size_t tenants_max = 16;

    /// @param most of them, those with the most series.
    explicit watched_metrics(std::size_t most) : metrics_(most) {}

    /// A series as it is looked at.
    struct looked_at {
        entry_name metric{};
        std::span<const label_view> labels{};
        entry_name job{}, sender{};  ///< without a value: it has none
        std::uint64_t weight = 1;    ///< for how many series it stands
    };
    void note(const looked_at& series, const hash_key& hash, time_point now);

    /// By place, as watched().
    [[nodiscard]] std::span<const top_entry> metrics() const noexcept { return metrics_.all(); }
    [[nodiscard]] const watched_metric& watched(std::size_t place) const noexcept { return watched_[place]; }

    void merge(const watched_metrics& other);
    void clear() noexcept;

    void save(state_encoder& out) const;
    void load(state_decoder& in);
};

// --- The same summary twice: of all tenants together, and of each.

/// A name that a thousand tenants have a few series of is at the top of all, and of none of them.
///
/// Series that come one after the other mostly share their job, metric and sender: then nothing is hashed.
/// Threads: one at a time.
class cardinality_table {
    space_saving in_all_;
    space_saving by_tenant_;

    struct named {
        std::string tenant{}, value{}, detail{};
        std::uint64_t in_all = 0, by_tenant = 0;  // keys
        bool is_set = false;

        [[nodiscard]] bool is(const entry_name& name) const noexcept {
            return is_set && value == name.value && tenant == name.tenant && detail == name.detail;
        }
    };
    named last_{};

  public:
    /// @param counters_max of each of the two.
    explicit cardinality_table(std::size_t counters_max) : in_all_(counters_max), by_tenant_(counters_max) {}

    void add(const entry_name& name, const hash_key& hash, std::uint64_t series, time_point now) {
        if (!last_.is(name)) remember(name, hash);
        in_all_.add(last_.in_all, {.value = name.value, .detail = name.detail}, series, now);
        by_tenant_.add(last_.by_tenant, name, series, now);
    }

    /// Their tenants are empty.
    [[nodiscard]] const space_saving& in_all() const noexcept { return in_all_; }
    [[nodiscard]] const space_saving& by_tenant() const noexcept { return by_tenant_; }

    void merge(const cardinality_table& other) {
        in_all_.merge(other.in_all_);
        by_tenant_.merge(other.by_tenant_);
    }
    void clear() noexcept {
        in_all_.clear();
        by_tenant_.clear();
    }
    void save(state_encoder& out) const {
        in_all_.save(out);
        by_tenant_.save(out);
    }
    void load(state_decoder& in) {
        in_all_.load(in);
        by_tenant_.load(in);
    }

  private:
    /// Hashes are keyed: nobody can work out which names share one.
    void remember(const entry_name& name, const hash_key& hash) {
        last_.tenant = name.tenant;
        last_.value = name.value;
        last_.detail = name.detail;
        last_.in_all = hash(name.value) + hash(name.detail) * 0x9E37'79B9'7F4A'7C15;
        last_.by_tenant = last_.in_all + hash(name.tenant) * 0xC2B2'AE3D'27D4'EB4F;
        last_.is_set = true;
    }
};

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
class cardinality_tables {
  public:
    static constexpr std::size_t metrics_max = 1024;
    static constexpr std::size_t names_max = 256;  ///< of other tables

    /// @param labels whose values are counted: their names. There is a table for each.
    cardinality_tables(std::span<const std::string> labels, const hash_key& hash);

    void count(std::span<const label_view> labels, const request_sender& sender, looked_at_weights weights,
               time_point now);

    /// So many series more that nobody looked at: every count may be wrong by them.
    void miss(std::uint64_t series) noexcept { missed_ += series; }

    [[nodiscard]] const cardinality_table& metrics() const noexcept { return metrics_; }
    [[nodiscard]] const cardinality_table& senders() const noexcept { return senders_; }
    [[nodiscard]] const space_saving& tenants() const noexcept { return tenants_; }
    /// @return null if values of that label are not counted.
    [[nodiscard]] const cardinality_table* values_of(std::string_view label) const noexcept;
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
    [[nodiscard]] std::uint64_t error_of(const top_entry& one) const noexcept;
    [[nodiscard]] std::uint64_t error_of_watched(const top_entry& one) const noexcept;

    /// Adds the counts of another window: of two hours each series counts in both.
    void merge(const cardinality_tables& other);
    void clear() noexcept;

    void save(state_encoder& out) const;
    /// Of tables with the same labels; damage makes the decoder fail, and leaves anything in these.
    void load(state_decoder& in);

  private:
    [[nodiscard]] std::uint64_t distinct(const small_sketch& of) const {
        return estimate_values(of.estimate(), looked_at_, total()).values;
    }

    hash_key hash_;
    cardinality_table metrics_{metrics_max}, senders_{names_max};
    space_saving tenants_{names_max};
    small_sketch metric_names_, tenant_names_;
    looked_at_weights weights_max_{.counted = 1, .watched = 1};
    std::uint64_t looked_at_ = 0, missed_ = 0;  // series
    watched_metrics watched_{watched_metrics::metrics_max};
    watched_metrics watched_tenants_{watched_metrics::tenants_max};
    struct label_table {
        std::string name{};
        cardinality_table values{names_max};
    };
    std::vector<label_table> labels_;
};

}  // namespace seriesgate
