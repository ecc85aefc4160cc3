#include "config/placed_value.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <utility>

#include "config/wording.hpp"
#include "core/counted.hpp"

namespace seriesgate {
namespace {

constexpr std::size_t name_shown_max = 80;

std::string joined(const std::string& key, std::string_view name) {
    const std::string shown = name.empty() ? "''" : printable(name, name_shown_max);
    return key.empty() ? shown : key + "." + shown;
}

}  // namespace

void error_report::add(std::size_t line, std::string key, std::string message) {
    assert(!message.empty());
    const std::string where = line == 0 ? file_ : file_ + ":" + std::to_string(line);
    if (entries_.size() == shown_max) {
        ++left_out_;
    } else {
        entries_.push_back({line, {where, std::move(key), std::move(message)}});
    }
}

void error_report::add(config_error error) {
    entries_.push_back({0, std::move(error)});
}

void error_report::sort_by_line() {
    std::ranges::stable_sort(entries_, {}, &entry::line);
}

std::vector<config_error> error_report::take() {
    std::vector<config_error> errors;
    for (entry& each : entries_) errors.push_back(std::move(each.error));
    if (left_out_ != 0) errors.push_back({file_, "", counted(left_out_, "more error") + ", not shown"});
    entries_.clear();
    return errors;
}

void placed_value::fail_below(std::string_view name, std::string message) const {
    report_->add(line_, joined(key_, name), std::move(message));
}

void placed_value::fail_kind(std::string_view expected) const {
    std::string got;
    switch (value_->kind) {
        case yaml_kind::text:
            got = in_quotes(value_->text);
            break;
        case yaml_kind::nothing:
            return fail("has no value");
        case yaml_kind::list:
            got = "a list";
            break;
        case yaml_kind::map:
            got = "keys and values";
            break;
    }
    fail("expected " + std::string{expected} + ", got " + got);
}

std::optional<std::string_view> placed_value::text() const {
    if (value_->kind == yaml_kind::text) return value_->text;
    fail_kind("one value");
    return std::nullopt;
}

std::vector<placed_value> placed_value::items() const {
    std::vector<placed_value> items;
    if (value_->kind != yaml_kind::list && value_->kind != yaml_kind::nothing) fail_kind("a list");
    std::size_t line = line_;
    for (const yaml_value& item : value_->items) {
        if (item.line != 0) line = item.line;  // else nothing stands there, and that of the item before is near
        items.emplace_back(item, *report_, key_ + "[" + std::to_string(items.size()) + "]", line);
    }
    return items;
}

std::vector<named_value> placed_value::members() const {
    std::vector<named_value> members;
    if (value_->kind != yaml_kind::map && value_->kind != yaml_kind::nothing) fail_kind("keys below it");
    std::map<std::string_view, std::size_t> lines;
    for (const yaml_member& member : value_->members) {
        placed_value at = below(member);
        if (const auto [first, fresh] = lines.emplace(member.name, member.line); fresh) {
            members.push_back({member.name, std::move(at)});
        } else {
            at.fail("is set twice, first on line " + std::to_string(first->second));
        }
    }
    return members;
}

placed_value placed_value::below(const yaml_member& member) const {
    return {member.value, *report_, joined(key_, member.name), member.line};
}

}  // namespace seriesgate
