// Selectors: the text up to the first null byte, then the names and values of a series' labels, each up to the next
// one. What is accepted survives being written out, and matches as pure RE2 and PromQL's rules say.
#include <re2/re2.h>

#include "core/text.hpp"
#include "fuzz/fuzz_target.hpp"
#include "series/selector.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

bytes_view take(bytes_view& rest) {
    const std::size_t end = rest.find('\0');
    const bytes_view taken = rest.substr(0, end);
    rest.remove_prefix(end == bytes_view::npos ? rest.size() : end + 1);
    return taken;
}

bool accepts(const label_matcher& matcher, bytes_view value) {
    if (matcher.op == match_op::equal) return value == matcher.value;
    if (matcher.op == match_op::not_equal) return value != matcher.value;
    const re2::RE2 regex{"(?s:" + matcher.value + ")", re2::RE2::Quiet};
    return re2::RE2::FullMatch(repaired_utf8(value), regex) == (matcher.op == match_op::regex);
}

/// A literal U+FFFD is compared by its bytes without RE2, and with RE2 also stands for bytes that are not UTF-8.
bool is_ambiguous(const label_matcher& matcher, bytes_view value) {
    return !is_utf8(value) && matcher.value.find("\xef\xbf\xbd") != std::string::npos;
}

void require_readable(const selector_error& error, std::size_t size) {
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
    require(!error.message.empty() && error.message.size() < 400, "an error of no length or too much");
    require(std::ranges::none_of(error.message, is_control), "an error with control characters");
    require(is_utf8(error.message), "an error that is not UTF-8");
    require(!error.offset || *error.offset <= size, "an error outside of the text");
}

void require_readable_again(const selector& original) {
    const std::string text = original.to_string();
    if (text.size() > selector_bytes_max) return;  // escapes may make it longer than it was
    const auto again = parse_selector(text);
    require(again.has_value(), "the canonical text is refused");
    require(*again == original && again->to_string() == text, "the canonical text is another selector");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    bytes_view rest = as_bytes(data, size);
    const bytes_view text = take(rest);
    const auto made = parse_selector(text);
    if (!made) {
        require_readable(made.error(), text.size());
        return 0;
    }
    require_readable_again(*made);
    require(!made->matches({}), "a series without labels is selected");

    std::vector<label_view> labels;
    while (!rest.empty() && labels.size() < 64) {
        const bytes_view name = take(rest);
        labels.push_back({name, take(rest)});
    }
    bool expected = true;
    for (const label_matcher& matcher : made->matchers()) {
        const bytes_view value = label_value(labels, matcher.name);
        if (is_ambiguous(matcher, value)) return 0;
        expected = expected && accepts(matcher, value);
    }
    require(made->matches(labels) == expected, "RE2 says otherwise");
    return 0;
}
