#include "limit/rule_labels.hpp"

#include <algorithm>

namespace seriesgate {

rule_labels::rule_labels(std::span<const label_limit> limits, std::span<const selector> exempt)
    : exempt_count_(exempt.size()) {
    const auto begin_part = [this] { begins_.push_back(numbers_asked_.size()); };
    const auto ask_all = [this](const selector& of) {
        for (const label_matcher& matcher : of.matchers()) ask(matcher.name);
    };
    for (const selector& each : exempt) {
        begin_part();
        ask_all(each);
    }
    for (const label_limit& limit : limits) {
        begin_part();
        if (limit.match) ask_all(*limit.match);
        begin_part();
        for (const std::string& name : limit.each) ask(name);
    }
}

void rule_labels::ask(bytes_view name) {
    const auto next = static_cast<std::uint32_t>(numbers_.size());
    numbers_asked_.push_back(numbers_.try_emplace(std::string{name}, next).first->second);
    name_bytes_max_ = std::max(name_bytes_max_, name.size());
}

}  // namespace seriesgate
