#include "demand/demand_key.hpp"

#include <cassert>

#include "limit/rules.hpp"

namespace seriesgate {
namespace {

constexpr char first_letter = 'a';
constexpr char last_letter = first_letter + static_cast<char>(demand_scope::group);

char letter_of(demand_scope scope) {
    return static_cast<char>(first_letter + static_cast<char>(scope));
}

}  // namespace

demand_scope scope_of(const budget_name& name) {
    if (name.limit.empty()) return demand_scope::tenant;
    return name.is_whole_limit() ? demand_scope::limit : demand_scope::group;
}

std::string demand_key(demand_scope scope, const budget_name& name) {
    std::string key{letter_of(scope)};
    key += name.overflow ? 'o' : name.has_tenant ? 't' : '-';
    append_key_part(key, name.limit);
    append_key_part(key, name.tenant);
    for (const auto& [label, value] : name.group) {
        append_key_part(key, label);
        append_key_part(key, value);
    }
    return key;
}

bool is_part(std::string_view key) {
    assert(!key.empty());
    return key.front() == letter_of(demand_scope::tenant) || key.front() == letter_of(demand_scope::group);
}

bool is_demand_key(std::string_view key) {
    return !key.empty() && key.front() >= first_letter && key.front() <= last_letter;
}

}  // namespace seriesgate
