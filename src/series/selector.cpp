#include "series/selector.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "core/text.hpp"
#include "series/selector_parser.hpp"
#include "series/selector_words.hpp"

namespace seriesgate {
namespace {

using namespace selector_words;

/// In double quotes, with the escapes that parse_selector reads.
std::string in_quotes(bytes_view text) {
    std::string out = "\"";
    while (!text.empty()) {
        const std::size_t size = utf8_size(text);
        if (text[0] == '"' || text[0] == '\\')
            out.append("\\").append(1, text[0]);
        else if (text[0] == '\n')
            out.append("\\n");
        else if (size == 0 || is_control(text[0]))
            out.append("\\x").append(hex(text[0]));
        else
            out.append(text.substr(0, size));
        text.remove_prefix(std::max<std::size_t>(size, 1));
    }
    return out += '"';
}

}  // namespace

std::string to_string(const selector_error& error) {
    return error.offset ? error.message + " at byte " + std::to_string(*error.offset) : error.message;
}

bool selector::matches(std::span<const label_view> labels) const {
    return std::ranges::all_of(
        matchers_, [&](const label_matcher& matcher) { return matcher.accepts(label_value(labels, matcher.name)); });
}

std::string selector::to_string() const {
    // Only a name that is given once and as it is can stand outside of a matcher.
    const auto on_name = std::ranges::find(matchers_, metric_name, &label_matcher::name);
    const bool is_short = std::ranges::count(matchers_, metric_name, &label_matcher::name) == 1 &&
                          on_name->op == match_op::equal && !on_name->value.empty() && is_utf8(on_name->value);
    std::string name;
    std::string inner;
    if (is_short && is_plain_name(on_name->value, name_kind::metric))
        name = on_name->value;
    else if (is_short)
        inner = in_quotes(on_name->value);
    for (const label_matcher& matcher : matchers_) {
        if (is_short && matcher.name == metric_name) continue;
        if (!inner.empty()) inner += ',';
        inner += is_plain_name(matcher.name, name_kind::label) ? matcher.name : in_quotes(matcher.name);
        inner += op_texts[static_cast<std::size_t>(matcher.op)];
        inner += in_quotes(matcher.value);
    }
    return inner.empty() && !name.empty() ? name : name + "{" + inner + "}";
}

result<selector, selector_error> parse_selector(std::string_view text) {
    auto matchers = parse_matchers(text);
    if (!matchers) return matchers.error();
    selector made;
    made.matchers_ = std::move(*matchers);
    std::ranges::sort(made.matchers_);
    made.matchers_.erase(std::unique(made.matchers_.begin(), made.matchers_.end()), made.matchers_.end());
    assert(!made.matchers_.empty() && made.matchers_.size() <= matchers_per_selector_max);
    return made;
}

}  // namespace seriesgate
