#include "config/placed_value.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <map>
#include <utility>

#include "config/shapes.hpp"
#include "config/wording.hpp"
#include "core/text.hpp"

namespace seriesgate {
namespace {

constexpr std::size_t name_shown_max = 80;

/// Credentials, and where a URL may hold some: `basicAuth: me:secret`.
bool may_be_shown(std::string_view key, const yaml_value& value) noexcept {
    if (key.ends_with(".basicAuth") || key.find(".headers") != std::string_view::npos) return false;
    return value.variables.empty() && value.text.find("://") == std::string::npos;
}

/// Whether a message has a part of a text in quotes.
bool quotes_part_of(std::string_view message, std::string_view text) noexcept {
    for (auto open = message.find('\''); open != std::string_view::npos; open = message.find('\'', open + 1)) {
        const auto quoted = message.substr(open + 1, message.find('\'', open + 1) - open - 1);
        if (!quoted.empty() && text.find(quoted) != std::string_view::npos) return true;
    }
    return false;
}

}  // namespace

std::string key_below(const std::string& key, std::string_view name) {
    const std::string shown = name.empty() ? "''" : printable(name, name_shown_max);
    return key.empty() ? shown : key + "." + shown;
}

std::string key_of_item(const std::string& key, std::size_t index) {
    return key + "[" + std::to_string(index) + "]";
}

std::string error_report::place(std::size_t line) const {
    return line == 0 ? file_ : file_ + ":" + std::to_string(line);
}

void error_report::add(std::size_t line, std::string key, std::string message) {
    assert(!message.empty());
    if (errors_.kept.size() == shown_max) {
        ++errors_.left_out;
    } else {
        errors_.kept.push_back({line, {place(line), std::move(key), std::move(message)}});
    }
}

void error_report::add(config_error error) {
    errors_.kept.push_back({0, std::move(error)});
}

void error_report::warn(std::size_t line, std::string key, std::string message) {
    assert(!message.empty());
    if (warnings_.kept.size() == shown_max) {
        ++warnings_.left_out;
    } else {
        warnings_.kept.push_back({line, {place(line), std::move(key), std::move(message), severity::warning}});
    }
}

void error_report::warn(config_error doubt) {
    doubt.is = severity::warning;
    warnings_.kept.push_back({0, std::move(doubt)});
}

void error_report::sort_by_line() {
    std::ranges::stable_sort(errors_.kept, {}, &entry::line);
    std::ranges::stable_sort(warnings_.kept, {}, &entry::line);
}

std::vector<config_error> error_report::take(entries& from, std::string_view what) const {
    std::vector<config_error> taken;
    for (entry& each : from.kept) taken.push_back(std::move(each.error));
    if (from.left_out != 0) taken.push_back({file_, "", counted(from.left_out, what) + ", not shown"});
    from = {};
    return taken;
}

std::vector<config_error> error_report::take_errors() {
    return take(errors_, "more error");
}

std::vector<config_error> error_report::take_warnings() {
    auto taken = take(warnings_, "more warning");
    for (config_error& each : taken) each.is = severity::warning;
    return taken;
}

// What it says besides the value is kept where that says nothing of it, and so is our word for the mistake.
std::string placed_value::without_value(std::string_view message) const {
    const std::string quoted = in_quotes(value_->text) + " ";
    std::string names;
    for (const std::string& name : value_->variables) names += (names.empty() ? "${" : ", ${") + name + "}";
    message = message.substr(0, message.find(": write "));
    if (message.starts_with(quoted)) message.remove_prefix(quoted.size());
    const auto is_ours = [message](std::string_view word) { return message.starts_with(word); };
    constexpr std::array<std::string_view, 5> words{"is ", "has ", "must ", "needs ", "expected "};
    const bool is_safe = std::ranges::any_of(words, is_ours) && !quotes_part_of(message, value_->text);
    return "with " + names + " filled in: " + (is_safe ? std::string{message} : "is not valid here");
}

void placed_value::fail(std::string message) const {
    if (value_->is_unknown) return;  // that has been told
    report_->add(line_, key_, value_->variables.empty() ? std::move(message) : without_value(message));
}

void placed_value::fail_below(std::string_view name, std::string message) const {
    report_->add(line_, key_below(key_, name), std::move(message));
}

void placed_value::warn_below(std::string_view name, std::string message) const {
    report_->warn(line_, key_below(key_, name), std::move(message));
}

std::string placed_value::wrong_kind(std::string_view expected) const {
    std::string got;
    switch (value_->kind) {
        case yaml_kind::text:
            got = may_be_shown(key_, *value_) ? in_quotes(value_->text) : "one value";
            break;
        case yaml_kind::nothing:
            return "has no value";
        case yaml_kind::list:
            got = "a list";
            break;
        case yaml_kind::map:
            got = "keys and values";
            break;
    }
    return "expected " + std::string{expected} + ", got " + got;
}

void placed_value::fail_kind(std::string_view expected) const {
    fail(wrong_kind(expected));
}

void placed_value::fail_shape(std::string_view expected) const {
    const auto example = shape_of(key_);
    const bool shown = !example.empty() && value_->kind != yaml_kind::nothing;
    fail(wrong_kind(expected) + (shown ? "; for example: " + std::string{example} : ""));
}

std::optional<std::string_view> placed_value::text() const {
    if (value_->is_unknown) return std::nullopt;
    if (value_->kind == yaml_kind::text) return value_->text;
    fail_shape("one value");
    return std::nullopt;
}

std::vector<placed_value> placed_value::items() const {
    std::vector<placed_value> items;
    if (value_->kind != yaml_kind::list && value_->kind != yaml_kind::nothing) fail_shape("a list");
    std::size_t line = line_;
    for (const yaml_value& item : value_->items) {
        if (item.line != 0) line = item.line;  // else nothing stands there, and that of the item before is near
        items.emplace_back(item, *report_, key_of_item(key_, items.size()), line);
    }
    return items;
}

std::vector<named_value> placed_value::members() const {
    std::vector<named_value> members;
    if (value_->kind != yaml_kind::map && value_->kind != yaml_kind::nothing) fail_shape("keys below it");
    std::map<std::string_view, std::size_t> lines;
    for (const yaml_member& member : value_->members) {
        placed_value at = below(member);
        if (const auto [first, fresh] = lines.emplace(member.name, member.line); fresh) {
            members.push_back({member.name, std::move(at)});
        } else {
            at.fail_key("is set twice, first on line " + std::to_string(first->second));
        }
    }
    return members;
}

placed_value placed_value::below(const yaml_member& member) const {
    return {member.value, *report_, key_below(key_, member.name), member.line};
}

}  // namespace seriesgate
