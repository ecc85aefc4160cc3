#include "config/config_error.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "config/wording.hpp"
#include "core/text.hpp"

namespace seriesgate {
namespace {

constexpr std::size_t name_shown_max = 80;

bool is_at_or_below(std::string_view key, std::string_view upper) noexcept {
    return key.starts_with(upper) &&
           (key.size() == upper.size() || key[upper.size()] == '.' || key[upper.size()] == '[');
}

}  // namespace

std::string config_error::text() const {
    std::string line = where;
    for (const std::string& part : {is == severity::warning ? "warning" : std::string{}, key, message}) {
        if (!line.empty() && !part.empty()) line += ": ";
        line += part;
    }
    return line;
}

std::string key_below(const std::string& key, std::string_view name) {
    const std::string shown = name.empty() ? "''" : printable(name, name_shown_max);
    return key.empty() ? shown : key + "." + shown;
}

std::string key_of_item(const std::string& key, std::size_t index) {
    return key + "[" + std::to_string(index) + "]";
}

void config_report::push(std::size_t line, config_error error) {
    assert(!error.message.empty());
    entries& to = error.is == severity::error ? errors_ : warnings_;
    if (to.kept.size() == shown_max)
        ++to.left_out;
    else
        to.kept.push_back({line, std::move(error)});
}

void config_report::add(std::size_t line, std::string key, std::string message, severity is) {
    push(line, {line == 0 ? file_ : file_ + ":" + std::to_string(line), std::move(key), std::move(message), is});
}

void config_report::add_flag(const std::string& flag, std::string message, severity is) {
    push(0, {flag, "", std::move(message), is});
}

void config_report::add_at(std::span<const std::string> keys, const std::string& message, severity is) {
    for (const std::string& key : keys) {
        const auto found = origins_.find(key);
        if (found == origins_.end()) continue;
        if (!found->second.flag.empty()) return add_flag(found->second.flag, message, is);
        return add(found->second.line, key, message, is);
    }
}

void config_report::set_by_line(const std::string& key, std::size_t line, bool has_variables) {
    origins_[key] = {line, "", has_variables};
}

void config_report::set_by_flag(const std::string& key, const std::string& flag) {
    origins_[key] = {0, flag, false};
}

bool config_report::has_variables(std::string_view key) const {
    const auto found = origins_.find(key);
    return found != origins_.end() && found->second.has_variables;
}

std::size_t config_report::line_of(std::string_view key) const {
    const auto found = origins_.find(key);
    return found == origins_.end() ? 0 : found->second.line;
}

bool config_report::has_errors(std::string_view key) const {
    return std::ranges::any_of(errors_.kept, [&](const entry& each) {
        const std::string& other = each.error.key;
        return is_at_or_below(other, key) || (!other.empty() && is_at_or_below(key, other)) ||
               each.error.where == "--" + std::string{key};
    });
}

void config_report::sort_by_line() {
    std::ranges::stable_sort(errors_.kept, {}, &entry::line);
    std::ranges::stable_sort(warnings_.kept, {}, &entry::line);
}

std::vector<config_error> config_report::take(entries& from, std::string_view noun) const {
    std::vector<config_error> taken;
    for (entry& each : from.kept) taken.push_back(std::move(each.error));
    if (from.left_out != 0)
        taken.push_back({file_, "", counted(from.left_out, noun) + ", not shown", taken.front().is});
    from = {};
    return taken;
}

}  // namespace seriesgate
