#include "series/label_matcher.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <cassert>
#include <functional>

#include "core/text.hpp"

namespace seriesgate {
namespace {

/// With more prefixes, RE2's automaton is faster than comparing one by one.
constexpr std::ptrdiff_t prefixes_max = 16;

enum class tail { none, any, some };  // nothing, `.*`, `.+`

struct branch {
    std::string text;
    tail rest = tail::none;
};

constexpr bool is_punctuation(char c) {
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

/// Splits a pattern of `text`, `text.*` and `text.+`, joined by `|`; nothing for other patterns.
std::optional<std::vector<branch>> simple_branches(bytes_view pattern) {
    constexpr bytes_view specials = R"(\.+*?()|[]{}^$)";
    std::vector<branch> branches(1);
    while (!pattern.empty()) {
        branch& current = branches.back();
        std::size_t taken = 1;
        if (pattern[0] == '|') {
            branches.emplace_back();
        } else if (current.rest != tail::none) {
            return std::nullopt;
        } else if (pattern.starts_with(".*") || pattern.starts_with(".+")) {
            current.rest = pattern[1] == '*' ? tail::any : tail::some;
            taken = 2;
        } else if (pattern.size() > 1 && pattern[0] == '\\' && is_punctuation(pattern[1])) {
            current.text += pattern[1];
            taken = 2;
        } else if (specials.find(pattern[0]) == bytes_view::npos) {
            current.text += pattern[0];
        } else {
            return std::nullopt;
        }
        pattern.remove_prefix(taken);
    }
    return branches;
}

bool full_match(const re2::RE2& regex, bytes_view value) {
    // Not a null pointer, which RE2 treats specially.
    const char* const text = value.empty() ? "" : value.data();
    return regex.Match({text, value.size()}, 0, value.size(), re2::RE2::ANCHOR_BOTH, nullptr, 0);
}

}  // namespace

value_pattern value_pattern::literal(std::string value) {
    value_pattern made;
    made.literals_.push_back(std::move(value));
    return made;
}

result<value_pattern, std::string> value_pattern::compile(const std::string& pattern, int memory_max) {
    value_pattern made;
    if (made.read_simple(pattern)) return made;
    re2::RE2::Options options;
    options.set_dot_nl(true);
    options.set_never_capture(true);
    options.set_log_errors(false);
    options.set_max_mem(memory_max);
    auto regex = std::make_shared<re2::RE2>(pattern, options);
    if (!regex->ok()) return regex->error();
    made.regex_ = std::move(regex);
    return made;
}

std::size_t value_pattern::instructions() const noexcept {
    return regex_ ? static_cast<std::size_t>(regex_->ProgramSize()) : 0;
}

bool value_pattern::read_simple(bytes_view pattern) {
    assert(literals_.empty() && prefixes_.empty());
    if (!is_utf8(pattern)) return false;
    auto branches = simple_branches(pattern);
    const auto has_tail = [](const branch& each) { return each.rest != tail::none; };
    if (!branches || std::ranges::count_if(*branches, has_tail) > prefixes_max) return false;
    for (branch& each : *branches)
        if (has_tail(each))
            prefixes_.push_back({std::move(each.text), each.rest == tail::some});
        else
            literals_.push_back(std::move(each.text));
    std::ranges::sort(literals_);
    assert(!literals_.empty() || !prefixes_.empty());
    return true;
}

bool value_pattern::matches(bytes_view value) const {
    assert(!regex_ || (literals_.empty() && prefixes_.empty()));  // one of the two decides
    if (regex_) return is_utf8(value) ? full_match(*regex_, value) : full_match(*regex_, repaired_utf8(value));
    if (std::binary_search(literals_.begin(), literals_.end(), value, std::less<>{})) return true;
    return std::ranges::any_of(prefixes_, [&](const prefix& start) {
        return value.starts_with(start.text) && (!start.more || value.size() > start.text.size());
    });
}

}  // namespace seriesgate
