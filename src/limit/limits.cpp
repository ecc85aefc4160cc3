#include "limit/limits.hpp"

#include <algorithm>
#include <utility>

#include "core/varint.hpp"

namespace seriesgate {

compiled_rules::compiled_rules(limit_rules written) : limit_rules(std::move(written)), labels(limits, exempt) {
    for (const label_limit& limit : limits) {
        auto& by_key = overridden.emplace_back();
        for (const group_override& each : limit.overrides) {
            std::string key;
            for (const auto& [label, value] : each.group) append_key_part(key, value);
            by_key.try_emplace(std::move(key), each.maxima);
        }
    }
}

void append_key_part(std::string& key, std::string_view part) {
    append_varint(key, part.size());
    key.append(part);
}

std::size_t key_part_bytes(std::string_view part) noexcept {
    return static_cast<std::size_t>(varint_size(part.size())) + part.size();
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

const series_maxima* override_of(const compiled_rules& rules, std::size_t limit, std::optional<std::string_view> key) {
    const auto& by_key = rules.overridden[limit];
    if (by_key.empty()) return nullptr;
    std::string shared;
    if (!key) {
        for (std::size_t i = 0; i < rules.limits[limit].each.size(); ++i) append_key_part(shared, overflow_name);
        key = shared;
    } else if (rules.limits[limit].per_tenant) {
        std::uint64_t size = 0;
        const char* const end = key->data() + key->size();
        const char* const after = read_varint(key->data(), end, size);
        if (after == nullptr || size > static_cast<std::uint64_t>(end - after)) return nullptr;  // not one of ours
        key->remove_prefix(static_cast<std::size_t>(after - key->data()) + static_cast<std::size_t>(size));
    }
    const auto found = by_key.find(*key);
    return found == by_key.end() ? nullptr : &found->second;
}

bool is_limited(const compiled_rules& rules, std::string_view tenant, const rule_selections::one& selection) {
    if (rules.mode == limit_mode::observe || selection.exempt()) return false;
    if (rules.global.limit()) return true;
    if (rules.tenants.mode == limit_mode::enforce && maxima_of(rules.tenants, tenant).limit()) return true;
    for (std::size_t i = 0; i < selection.size(); ++i) {
        const label_limit& limit = rules.limits[selection.limit_index(i)];
        const series_maxima* const own = override_of(rules, selection.limit_index(i), selection.key(i));
        if (limit.mode == limit_mode::enforce && (own == nullptr ? limit.maxima : *own).limit()) return true;
    }
    return false;
}

std::uint64_t override_work(const compiled_rules& rules, const rule_selections::one& selection) noexcept {
    constexpr std::uint64_t find_work = 500;
    std::uint64_t work = 0;
    for (std::size_t i = 0; i < selection.size(); ++i)
        work += rules.limits[selection.limit_index(i)].overrides.empty() ? 0 : find_work;
    return work;
}

series_maxima capacities_of(const compiled_rules& rules) {
    const bool bounded = rules.mode == limit_mode::enforce && rules.exempt.empty() && !rules.whole_histograms;
    return bounded ? rules.global : series_maxima{};
}

group_labels group_of(const label_limit& limit, std::string_view key) {
    auto values = split_key(key);
    values.resize((limit.per_tenant ? 1 : 0) + limit.each.size());
    group_labels group;
    std::size_t value = limit.per_tenant ? 1 : 0;
    for (const std::string& label : limit.each) group.emplace_back(label, std::move(values[value++]));
    return group;
}

group_labels overflow_group(const label_limit& limit) {
    group_labels group;
    for (const std::string& label : limit.each) group.emplace_back(label, overflow_name);
    return group;
}

}  // namespace seriesgate
