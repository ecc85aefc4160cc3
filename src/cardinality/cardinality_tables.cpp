#include "cardinality/cardinality_tables.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace seriesgate {
namespace {

/// The hash is keyed, so senders cannot construct collisions.
std::uint64_t key_of(const entry_name& name, const hash_key& hash) noexcept {
    return hash(name.value) + hash(name.detail) * 0x9E37'79B9'7F4A'7C15 + hash(name.tenant) * 0xC2B2'AE3D'27D4'EB4F;
}

/// Finds or adds a watched label. A new label replaces the one with the fewest series and inherits its count as error,
/// as in space_saving.
watched_label& watch(std::vector<watched_label>& labels, std::uint64_t key, bytes_view name) {
    const auto known = std::ranges::find(labels, key, &watched_label::key);
    if (known != labels.end()) return *known;
    const std::string_view kept = name.substr(0, space_saving::text_max);
    if (labels.size() < watched_metric::labels_max)
        return labels.emplace_back(watched_label{.name = std::string{kept}, .key = key});
    watched_label& least = *std::ranges::min_element(labels, {}, &watched_label::series);
    least = {.name = std::string{kept}, .key = key, .series = least.series, .error = least.series};
    return least;
}

constexpr bytes_view job_label = "job";

/// Four standard errors of a count if one series in `weight` is looked at.
std::uint64_t error_of_weight(std::uint64_t series, std::uint64_t weight) noexcept {
    if (weight <= 1) return 0;
    return static_cast<std::uint64_t>(
        std::ceil(4 * std::sqrt(static_cast<double>(series) * static_cast<double>(weight))));
}

}  // namespace

void watched_metric::merge(const watched_metric& other) {
    for (const watched_label& each : other.labels) {
        auto known = std::ranges::find(labels, each.key, &watched_label::key);
        if (known == labels.end()) known = labels.insert(known, {.name = each.name, .key = each.key});
        known->series += each.series;
        known->error += each.error;
        known->looked_at += each.looked_at;
        known->values.merge(each.values);
    }
    std::ranges::sort(labels, std::ranges::greater{}, &watched_label::series);
    if (labels.size() > labels_max) labels.erase(labels.begin() + labels_max, labels.end());
    jobs.merge(other.jobs);
    senders.merge(other.senders);
}

void watched_metric::save(state_encoder& out) const {
    out.number(static_cast<std::uint64_t>(labels.size()));
    for (const watched_label& each : labels) {
        out.text(each.name);
        out.number(each.key);
        out.count(each.series, space_saving::series_max);
        out.count(each.error, space_saving::series_max);
        out.count(each.looked_at, space_saving::series_max);
        each.values.save(out);
    }
    out.parts(jobs, senders);
}

void watched_metric::load(state_decoder& in) {
    const std::uint64_t count = in.count(labels_max);
    for (std::uint64_t i = 0; i < count && in.good(); ++i) {
        watched_label& each = labels.emplace_back(watched_label{.name = in.text()});
        each.key = in.number<std::uint64_t>();
        each.series = in.count(space_saving::series_max);
        each.error = in.count(space_saving::series_max);
        each.looked_at = in.count(space_saving::series_max);
        each.values.load(in);
        if (each.name.size() > space_saving::text_max || each.error > each.series) in.fail();
    }
    in.parts(jobs, senders);
}

value_count estimate_values(std::uint64_t sketched, std::uint64_t looked_at, std::uint64_t series) {
    const std::uint64_t seen = std::min(sketched, std::max(series, looked_at));
    if (looked_at >= series || seen == 0) return {.values = seen, .least = seen, .most = seen};
    const double part = static_cast<double>(looked_at) / static_cast<double>(series);
    const auto found = static_cast<double>(seen), all = static_cast<double>(series);
    const auto most = static_cast<std::uint64_t>(std::llround(std::min(all, found / part)));
    value_count made{.values = std::max(most, seen), .least = seen, .most = std::max(most, seen)};
    // No sketch distinguishes this from values that all differ.
    constexpr double nearly_all = 1 - 2 * small_sketch::standard_error;
    if (found >= nearly_all * static_cast<double>(looked_at)) return made;
    double lower = found, upper = all;
    for (int step = 0; step < 60; ++step) {
        const double middle = (lower + upper) / 2;
        const double expected = middle * -std::expm1(all / middle * std::log1p(-part));
        (expected < found ? lower : upper) = middle;
    }
    made.values = static_cast<std::uint64_t>(std::llround(upper));
    return made;
}

value_count count_values(const watched_label& label, double scale) {
    const double series = static_cast<double>(label.series - label.error) * scale;
    const auto count = static_cast<std::uint64_t>(std::llround(series));
    value_count made = estimate_values(label.values.estimate(), label.looked_at, count);
    made.is_exact = label.values.is_exact() && label.looked_at >= count;
    return made;
}

void watched_metrics::note(const looked_at& series, const hash_key& hash, time_point now) {
    // Room first: without memory, both must stay equally long.
    if (watched_.size() == metrics_.all().size()) watched_.reserve(watched_.size() + 1);
    const auto [place, is_new] = metrics_.add(key_of(series.metric, hash), series.metric, series.weight, now);
    if (place >= watched_.size()) watched_.resize(place + 1);
    watched_metric& at = watched_[place];
    if (is_new) {
        at.labels.clear();
        at.jobs.clear();
        at.senders.clear();
    }
    if (!series.job.value.empty()) at.jobs.add(key_of(series.job, hash), series.job, series.weight, now);
    if (!series.sender.value.empty()) at.senders.add(key_of(series.sender, hash), series.sender, series.weight, now);
    for (const label_view& each : series.labels) {
        if (each.name == name_label || each.value.empty()) continue;
        watched_label& label = watch(at.labels, hash(each.name), each.name);
        label.series += series.weight;
        ++label.looked_at;
        label.values.insert(hash(each.value));
    }
}

void watched_metrics::merge(const watched_metrics& other) {
    boost::unordered_flat_map<std::uint64_t, watched_metric> all;
    for (std::size_t i = 0; i < watched_.size(); ++i) all.emplace(metrics_.key(i), std::move(watched_[i]));
    for (std::size_t i = 0; i < other.watched_.size(); ++i) all[other.metrics_.key(i)].merge(other.watched_[i]);
    metrics_.merge(other.metrics_);
    watched_.clear();
    watched_.resize(metrics_.all().size());
    for (std::size_t i = 0; i < watched_.size(); ++i) watched_[i] = std::move(all[metrics_.key(i)]);
}

void watched_metrics::clear() noexcept {
    metrics_.clear();
    watched_.clear();
}

void watched_metrics::save(state_encoder& out) const {
    metrics_.save(out);
    for (const watched_metric& each : watched_) each.save(out);
}

void watched_metrics::load(state_decoder& in) {
    clear();
    metrics_.load(in);
    watched_.resize(metrics_.all().size());
    for (watched_metric& each : watched_) each.load(in);
}

cardinality_tables::cardinality_tables(std::span<const std::string> labels, const hash_key& hash) : hash_(hash) {
    for (const std::string& each : labels) labels_.push_back({.name = each});
}

const cardinality_table* cardinality_tables::values_of(std::string_view label) const noexcept {
    const auto found = std::ranges::find(labels_, label, &label_table::name);
    return found == labels_.end() ? nullptr : &found->values;
}

std::uint64_t cardinality_tables::error_of(const top_entry& one) const noexcept {
    return one.error + missed_ + error_of_weight(one.series, weights_max_.counted);
}

std::uint64_t cardinality_tables::error_of_watched(const top_entry& one) const noexcept {
    return one.error + missed_ + error_of_weight(one.series, weights_max_.watched);
}

void cardinality_tables::count(std::span<const label_view> labels, const request_sender& sender,
                               looked_at_weights weights, time_point now) {
    const bytes_view metric = label_value(labels, name_label);
    const entry_name name{.tenant = sender.tenant, .value = metric};
    const entry_name from{.tenant = sender.tenant, .value = sender.address, .detail = sender.agent};
    ++looked_at_;
    metrics_.add(name, hash_, weights.counted, now);
    metric_names_.insert(hash_(metric));
    const std::uint64_t tenant = hash_(sender.tenant);
    tenants_.add(tenant, {.tenant = sender.tenant, .value = sender.tenant}, weights.counted, now);
    tenant_names_.insert(tenant);
    if (!sender.address.empty()) senders_.add(from, hash_, weights.counted, now);
    for (label_table& each : labels_) {
        const bytes_view value = label_value(labels, each.name);
        if (!value.empty()) each.values.add({.tenant = sender.tenant, .value = value}, hash_, weights.counted, now);
    }
    weights_max_.counted = std::max(weights_max_.counted, weights.counted);
    if (weights.watched == 0) return;
    weights_max_.watched = std::max(weights_max_.watched, weights.watched);
    const entry_name job{.tenant = sender.tenant, .value = label_value(labels, job_label)};
    watched_metrics::looked_at series{
        .metric = name, .labels = labels, .job = job, .sender = from, .weight = weights.watched};
    watched_.note(series, hash_, now);
    series.metric.value = {};
    watched_tenants_.note(series, hash_, now);
}

void cardinality_tables::merge(const cardinality_tables& other) {
    metrics_.merge(other.metrics_);
    senders_.merge(other.senders_);
    tenants_.merge(other.tenants_);
    metric_names_.merge(other.metric_names_);
    tenant_names_.merge(other.tenant_names_);
    watched_.merge(other.watched_);
    watched_tenants_.merge(other.watched_tenants_);
    weights_max_.counted = std::max(weights_max_.counted, other.weights_max_.counted);
    weights_max_.watched = std::max(weights_max_.watched, other.weights_max_.watched);
    looked_at_ += other.looked_at_;
    missed_ += other.missed_;
    for (label_table& each : labels_)
        if (const cardinality_table* const theirs = other.values_of(each.name)) each.values.merge(*theirs);
}

void cardinality_tables::save(state_encoder& out) const {
    out.parts(metrics_, senders_, tenants_, metric_names_, tenant_names_);
    out.numbers(weights_max_.counted, weights_max_.watched);
    out.count(looked_at_, space_saving::series_max);
    out.count(missed_, space_saving::series_max);
    out.parts(watched_, watched_tenants_);
    for (const label_table& each : labels_) each.values.save(out);
}

void cardinality_tables::load(state_decoder& in) {
    in.parts(metrics_, senders_, tenants_, metric_names_, tenant_names_);
    weights_max_.counted = in.count(thinning::weight_max);
    weights_max_.watched = in.count(thinning::weight_max);
    looked_at_ = in.count(space_saving::series_max);
    missed_ = in.count(space_saving::series_max);
    in.parts(watched_, watched_tenants_);
    for (label_table& each : labels_) each.values.load(in);
}

}  // namespace seriesgate
