#include "config/rule_values.hpp"

#include <algorithm>
#include <cassert>
#include <map>

#include "config/ignored_labels.hpp"
#include "config/rule_keys.hpp"
#include "config/scalars.hpp"
#include "config/wording.hpp"

namespace seriesgate {

namespace {

constexpr std::size_t hosts_max = 64;

}  // namespace

bool read_label_names(const placed_value& at, std::size_t count_max, std::vector<std::string>& target) {
    if (at.value().kind == yaml_kind::text || at.value().kind == yaml_kind::map) {
        at.fail_kind("a list of label names, such as [namespace]");
        return false;
    }
    const auto items = read_items(at, count_max);
    bool good = items.size() == at.value().items.size();
    std::map<std::string, std::string> seen;  // and where
    for (const placed_value& item : items) {
        std::string name;
        if (!read_scalar(item, [&](std::string_view text) { return assign_label_name(text, name); })) {
            good = false;
        } else if (const auto [first, fresh] = seen.emplace(name, item.key()); fresh) {
            target.push_back(std::move(name));
        } else {
            item.fail(in_quotes(name) + " is there already, as " + first->second);
            good = false;
        }
    }
    return good;
}

bool read_selector(const placed_value& at, std::span<const std::string> ignored, selector& target) {
    // Without the quotes, {namespace=~".+"} is a map to YAML.
    if (at.value().kind == yaml_kind::map || at.value().kind == yaml_kind::list) {
        at.fail_kind("a selector in quotes, such as '{namespace=~\".+\"}'");
        return false;
    }
    if (!read_scalar(at, [&](std::string_view text) { return assign_selector(text, target); })) return false;
    std::string wrong = ignored_label(target, ignored);
    if (wrong.empty()) return true;
    at.fail(std::move(wrong));
    return false;
}

bool read_flag(const placed_value& at, bool& target) {
    return read_scalar(at, [&](std::string_view text) { return assign_flag(text, target); });
}

bool read_mode(const placed_value& at, limit_mode& target) {
    return read_scalar(at, [&](std::string_view text) { return assign_mode(text, target); });
}

bool read_answer(const placed_value& at, std::optional<limit_answer>& target) {
    limit_answer answer{};
    const bool good = read_scalar(at, [&](std::string_view text) { return assign_answer(text, answer); });
    if (good) target = answer;
    return good;
}

bool read_series_count(const placed_value& at, std::uint64_t& target) {
    return read_scalar(at, [&](std::string_view text) { return assign_series_count(text, target); });
}

std::vector<placed_value> read_items(const placed_value& at, std::size_t count_max) {
    assert(count_max > 0);
    auto items = at.items();
    if (items.size() > count_max) {
        at.fail("has " + std::to_string(items.size()) + " items, at most " + std::to_string(count_max) +
                " are possible");
        items.erase(items.begin() + static_cast<std::ptrdiff_t>(count_max), items.end());
    }
    assert(items.size() <= count_max);
    return items;
}

void read_forward_query(const placed_value& at, config& target) {
    if (at.value().kind == yaml_kind::text || at.value().kind == yaml_kind::map)
        return at.fail_kind("a list of query arguments, such as [extra_label]");
    for (const placed_value& item : read_items(at, forward_query_max)) {
        std::string name;
        if (!read_scalar(item, [&](std::string_view text) { return assign_argument_name(text, name); })) continue;
        if (!target.upstream.forward_query.insert(name).second) item.fail(in_quotes(name) + " is there already");
    }
}

void read_hosts(const placed_value& at, config& target) {
    for (const placed_value& item : read_items(at, hosts_max)) {
        std::string host;
        if (!read_scalar(item, [&](std::string_view text) { return assign_host(text, host); })) continue;
        if (std::ranges::find(target.server.hosts, host) != target.server.hosts.end())
            item.fail(in_quotes(host) + " is there already");
        else
            target.server.hosts.push_back(std::move(host));
    }
}

void read_ignore_labels(const placed_value& at, config& target) {
    read_label_names(at, ignore_labels_max, target.ignore_labels);
}

void read_top_labels(const placed_value& at, config& target) {
    target.top_labels.clear();
    read_label_names(at, top_labels_max, target.top_labels);
}

void read_exempt(const placed_value& at, config& target) {
    for (const placed_value& item : read_items(at, exempt_max)) {
        selector each;
        if (read_selector(item, target.ignore_labels, each)) target.rules.exempt.push_back(std::move(each));
    }
}

}  // namespace seriesgate
