/// Counts the series of one window by metric, label, value, sender and tenant, in bounded memory.
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

// --- Top metrics in detail: values per label, jobs and senders.

struct watched_label {
    std::string name{};
    std::uint64_t key = 0;        ///< hash of the name
    std::uint64_t series = 0;     ///< series with this label,
    std::uint64_t error = 0;      ///< or at most so many fewer
    std::uint64_t looked_at = 0;  ///< of them, see thinning in space_saving.hpp
    small_sketch values{};        ///< of the series looked at
};

struct watched_metric {
    static constexpr std::size_t labels_max = 24;
    static constexpr std::size_t names_max = 8;

    std::vector<watched_label> labels{};  ///< the most frequent ones; without `__name__`
    space_saving jobs{names_max};
    space_saving senders{names_max};

    void merge(const watched_metric& other);
    void save(state_encoder& out) const;
    void load(state_decoder& in);
};

/// The estimated number of distinct values of a label.
struct value_count {
    std::uint64_t values = 0;
    std::uint64_t least = 0;  ///< lower bound, but for the sketch's error
    std::uint64_t most = 0;
    bool is_exact = false;  ///< few values, and every series was looked at
};
/// Estimates distinct values from a sample: of D values with k series each, a sample with rate p shows a part 1 - (1 -
/// p)^k; solves this for D. Correct but for the sketch's error if every series was looked at, if each series has its
/// own value, or if there are few values. Otherwise as accurate as values have equally many series.
/// @param seen the sketch's estimate. @param looked_at series sampled of @param series.
value_count estimate_values(std::uint64_t seen, std::uint64_t looked_at, std::uint64_t series);
/// The same for a watched label.
/// @param scale factor to the metric's number of series, if another table counts it better.
value_count count_values(const watched_label& label, double scale = 1);

/// The metrics with the most series, in detail. cardinality_tables also keeps one for tenants, with all metrics of a
/// tenant as one unnamed metric. Threads: one at a time.
class watched_metrics {
    space_saving metrics_;
    std::vector<watched_metric> watched_{};  // by place

  public:
    /// Up to 50 KiB each.
    static constexpr std::size_t metrics_max = 48;
    static constexpr std::size_t tenants_max = 16;

    /// @param most how many metrics are kept.
    explicit watched_metrics(std::size_t most) : metrics_(most) {}

    struct looked_at {
        entry_name metric{};
        std::span<const label_view> labels{};
        entry_name job{}, sender{};  ///< without a value: none
        std::uint64_t weight = 1;    ///< series that it stands for
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

// --- The same counts over all tenants and per tenant.

/// Two lists, because a name with a few series of each of a thousand tenants is on top of all, and of none of them.
/// Neighbouring series mostly share job, metric and sender; then no hash is computed. Threads: one at a time.
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
    /// @param counters_max of each list.
    explicit cardinality_table(std::size_t counters_max) : in_all_(counters_max), by_tenant_(counters_max) {}

    void add(const entry_name& name, const hash_key& hash, std::uint64_t series, time_point now) {
        if (!last_.is(name)) remember(name, hash);
        in_all_.add(last_.in_all, {.value = name.value, .detail = name.detail}, series, now);
        by_tenant_.add(last_.by_tenant, name, series, now);
    }

    [[nodiscard]] const space_saving& in_all() const noexcept { return in_all_; }
    [[nodiscard]] const space_saving& by_tenant() const noexcept { return by_tenant_; }

    void merge(const cardinality_table& other) {
        in_all_.merge(other.in_all_);
        by_tenant_.merge(other.by_tenant_);
    }
    void save(state_encoder& out) const { out.parts(in_all_, by_tenant_); }
    void load(state_decoder& in) { in.parts(in_all_, by_tenant_); }

  private:
    /// The hash is keyed, so senders cannot construct collisions.
    void remember(const entry_name& name, const hash_key& hash) {
        last_.tenant = name.tenant;
        last_.value = name.value;
        last_.detail = name.detail;
        last_.in_all = hash(name.value) + hash(name.detail) * 0x9E37'79B9'7F4A'7C15;
        last_.by_tenant = last_.in_all + hash(name.tenant) * 0xC2B2'AE3D'27D4'EB4F;
        last_.is_set = true;
    }
};

/// The sender of a request.
struct request_sender {
    std::string_view tenant{};
    std::string_view address{};  ///< of the peer
    std::string_view agent{};    ///< its User-Agent
};

/// Series that one sampled series stands for, see thinning in space_saving.hpp.
struct looked_at_weights {
    std::uint64_t counted = 1;  ///< in the tables
    std::uint64_t watched = 0;  ///< label by label; 0: not looked at
};

/// Counts the series of one kind (new or refused) in one window. At most about 8 MiB, if every name has the maximum
/// length. Threads: one at a time.
class cardinality_tables {
  public:
    static constexpr std::size_t metrics_max = 1024;
    static constexpr std::size_t names_max = 256;  ///< of the other tables

    /// @param labels names of the labels whose values are counted, a table each.
    cardinality_tables(std::span<const std::string> labels, const hash_key& hash);

    void count(std::span<const label_view> labels, const request_sender& sender, looked_at_weights weights,
               time_point now);

    /// Adds series that were not looked at; every count may be wrong by them.
    void miss(std::uint64_t series) noexcept { missed_ += series; }

    [[nodiscard]] const cardinality_table& metrics() const noexcept { return metrics_; }
    [[nodiscard]] const cardinality_table& senders() const noexcept { return senders_; }
    [[nodiscard]] const space_saving& tenants() const noexcept { return tenants_; }
    /// @return null if values of that label are not counted.
    [[nodiscard]] const cardinality_table* values_of(std::string_view label) const noexcept;
    [[nodiscard]] const watched_metrics& watched() const noexcept { return watched_; }
    /// All metrics of a tenant as one: shows labels that spread over many metrics.
    [[nodiscard]] const watched_metrics& watched_tenants() const noexcept { return watched_tenants_; }
    [[nodiscard]] std::uint64_t distinct_metrics() const { return distinct(metric_names_); }
    /// Of both together: a metric may have new and refused series.
    [[nodiscard]] std::uint64_t distinct_metrics_with(const cardinality_tables& other) const {
        small_sketch both = metric_names_;
        both.merge(other.metric_names_);
        return estimate_values(both.estimate(), looked_at_ + other.looked_at_, total() + other.total()).values;
    }
    [[nodiscard]] std::uint64_t distinct_tenants() const { return distinct(tenant_names_); }
    /// Distinct series counted.
    [[nodiscard]] std::uint64_t total() const noexcept { return tenants_.total(); }
    [[nodiscard]] bool is_exact() const noexcept { return weights_max_.counted == 1 && missed_ == 0; }
    /// Error bound of a top entry's count: that of the summary, plus four standard errors if series were sampled.
    [[nodiscard]] std::uint64_t error_of(const top_entry& one) const noexcept;
    [[nodiscard]] std::uint64_t error_of_watched(const top_entry& one) const noexcept;

    /// Adds the counts of another window. Series in both count twice.
    void merge(const cardinality_tables& other);

    void save(state_encoder& out) const;
    /// For tables with the same labels. Damaged bytes make the decoder fail and leave any content here.
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
