#include "talkers/talker_tables.hpp"

#include <algorithm>
#include <cmath>

#include "talkers/thinning.hpp"

namespace seriesgate {
namespace {

constexpr bytes_view job_label = "job";

/// Four standard errors of a count of which one in `weight` was looked at.
std::uint64_t error_of_weight(std::uint64_t series, std::uint64_t weight) noexcept {
    if (weight <= 1) return 0;
    return static_cast<std::uint64_t>(
        std::ceil(4 * std::sqrt(static_cast<double>(series) * static_cast<double>(weight))));
}

}  // namespace

talker_tables::talker_tables(std::span<const std::string> labels, const hash_key& hash) : hash_(hash) {
    for (const std::string& each : labels) labels_.push_back({.name = each});
}

const talker_table* talker_tables::values_of(std::string_view label) const noexcept {
    const auto found = std::ranges::find(labels_, label, &label_table::name);
    return found == labels_.end() ? nullptr : &found->values;
}

std::uint64_t talker_tables::error_of(const talker& one) const noexcept {
    return one.error + missed_ + error_of_weight(one.series, weights_max_.counted);
}

std::uint64_t talker_tables::error_of_watched(const talker& one) const noexcept {
    return one.error + missed_ + error_of_weight(one.series, weights_max_.watched);
}

void talker_tables::count(std::span<const label_view> labels, const request_sender& sender, looked_at_weights weights,
                          time_point now) {
    const bytes_view metric = label_value(labels, name_label);
    const talker_name name{.tenant = sender.tenant, .value = metric};
    const talker_name from{.tenant = sender.tenant, .value = sender.address, .detail = sender.agent};
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
    const talker_name job{.tenant = sender.tenant, .value = label_value(labels, job_label)};
    watched_metrics::looked_at series{
        .metric = name, .labels = labels, .job = job, .sender = from, .weight = weights.watched};
    watched_.note(series, hash_, now);
    series.metric.value = {};
    watched_tenants_.note(series, hash_, now);
}

void talker_tables::merge(const talker_tables& other) {
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
        if (const talker_table* const theirs = other.values_of(each.name)) each.values.merge(*theirs);
}

void talker_tables::clear() noexcept {
    metrics_.clear();
    senders_.clear();
    tenants_.clear();
    metric_names_.clear();
    tenant_names_.clear();
    watched_.clear();
    watched_tenants_.clear();
    weights_max_ = {.counted = 1, .watched = 1};
    looked_at_ = missed_ = 0;
    for (label_table& each : labels_) each.values.clear();
}

void talker_tables::save(state_encoder& out) const {
    metrics_.save(out);
    senders_.save(out);
    tenants_.save(out);
    metric_names_.save(out);
    tenant_names_.save(out);
    out.number(weights_max_.counted);
    out.number(weights_max_.watched);
    out.count(looked_at_, space_saving::series_max);
    out.count(missed_, space_saving::series_max);
    watched_.save(out);
    watched_tenants_.save(out);
    for (const label_table& each : labels_) each.values.save(out);
}

void talker_tables::load(state_decoder& in) {
    metrics_.load(in);
    senders_.load(in);
    tenants_.load(in);
    metric_names_.load(in);
    tenant_names_.load(in);
    weights_max_.counted = in.count(thinning::weight_max);
    weights_max_.watched = in.count(thinning::weight_max);
    looked_at_ = in.count(space_saving::series_max);
    missed_ = in.count(space_saving::series_max);
    watched_.load(in);
    watched_tenants_.load(in);
    for (label_table& each : labels_) each.values.load(in);
}

}  // namespace seriesgate
