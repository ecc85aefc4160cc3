#include "limit/limits.hpp"

#include <algorithm>

#include "wire/varint.hpp"

namespace seriesgate {
namespace {

bool applies(const label_limit& limit, std::span<const label_view> labels) {
    return !limit.match || limit.match->matches(labels);
}

}  // namespace

void rule_selections::clear() noexcept {
    series_.clear();
    selected_.clear();
    keys_.clear();
}

void rule_selections::append(const limit_rules& rules, std::string_view tenant, std::span<const label_view> labels) {
    const auto first = static_cast<std::uint32_t>(selected_.size());
    const bool exempt = std::ranges::any_of(rules.exempt, [&](const selector& each) { return each.matches(labels); });
    for (std::size_t i = 0; !exempt && i < rules.limits.size(); ++i) {
        const label_limit& limit = rules.limits[i];
        if (!applies(limit, labels)) continue;
        const std::size_t begin = keys_.size();
        if (limit.per_tenant) append_key_part(keys_, tenant);
        for (const std::string& name : limit.each) append_key_part(keys_, label_value(labels, name));
        selected_.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(begin),
                             static_cast<std::uint32_t>(keys_.size() - begin)});
    }
    series_.push_back({first, static_cast<std::uint32_t>(selected_.size()) - first, exempt});
}

void append_key_part(std::string& key, std::string_view part) {
    append_varint(key, part.size());
    key.append(part);
}

std::vector<std::string> split_key(std::string_view key) {
    std::vector<std::string> parts;
    const char* at = key.data();
    const char* const end = at + key.size();
    while (at != end) {
        std::uint64_t size = 0;
        at = read_varint(at, end, size);
        if (at == nullptr || size > static_cast<std::uint64_t>(end - at)) break;  // not one of ours
        parts.emplace_back(at, static_cast<std::size_t>(size));
        at += size;
    }
    return parts;
}

const series_maxima& maxima_of(const tenant_limits& tenants, std::string_view tenant) {
    const auto found = tenants.overrides.find(tenant);
    return found == tenants.overrides.end() ? tenants.fallback : found->second;
}

limit_answer answer_of(const limit_rules& rules, std::string_view tenant) {
    const auto found = rules.tenants.answers.find(tenant);
    return found != rules.tenants.answers.end() ? found->second : rules.tenants.answer;
}

bool is_limited(const limit_rules& rules, std::string_view tenant, const rule_selections::one& selection) {
    if (rules.mode == limit_mode::observe || selection.exempt()) return false;
    if (rules.global.limit()) return true;
    if (rules.tenants.mode == limit_mode::enforce && maxima_of(rules.tenants, tenant).limit()) return true;
    for (std::size_t i = 0; i < selection.size(); ++i) {
        const label_limit& limit = rules.limits[selection.limit_index(i)];
        if (limit.mode == limit_mode::enforce && maxima_of(limit, group_of(limit, selection.key(i))).limit())
            return true;
    }
    return false;
}

series_maxima capacities_of(const limit_rules& rules) {
    const bool bounded = rules.mode == limit_mode::enforce && rules.exempt.empty() && !rules.whole_histograms;
    return bounded ? rules.global : series_maxima{};
}

group_labels group_of(const label_limit& limit, std::string_view key) {
    auto values = split_key(key);
    group_labels group;
    std::size_t value = limit.per_tenant ? 1 : 0;
    for (const std::string& label : limit.each) group.emplace_back(label, std::move(values[value++]));
    return group;
}

const series_maxima& maxima_of(const label_limit& limit, const group_labels& group) {
    const auto found = std::ranges::find(limit.overrides, group, &group_override::group);
    return found == limit.overrides.end() ? limit.maxima : found->maxima;
}

}  // namespace seriesgate
