#include "series/selector.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <utility>

namespace seriesgate {
namespace {

/// By match_op.
constexpr std::array<bytes_view, 4> op_texts{"=", "!=", "=~", "!~"};

constexpr bool is_name_start(char c) {
    return c == '_' || is_letter(c);
}

/// Only metrics may have colons.
constexpr bool is_metric_letter(char c) {
    return is_identifier_character(c) || c == ':';
}

/// Whether the character has no form of its own: a stray byte, or ASCII's control characters.
bool needs_code(bytes_view text) {
    return utf8_size(text) == 0 || static_cast<unsigned char>(text[0]) < 0x20 || text[0] == '\x7f';
}

/// Quotes a text with the escapes that parse_selector reads.
std::string in_quotes(bytes_view text) {
    std::string out = "\"";
    for (bytes_view character; !text.empty(); text.remove_prefix(character.size())) {
        character = text.substr(0, std::max<std::size_t>(utf8_size(text), 1));
        if (character == "\"" || character == "\\")
            out.append("\\").append(character);
        else if (character == "\n")
            out.append("\\n");
        else if (needs_code(text))
            append_code(out, character);
        else
            out.append(character);
    }
    return out += '"';
}

/// A text for an error message: one line of UTF-8, bounded.
std::string shown(bytes_view text) {
    constexpr std::size_t shown_max = 120;
    const std::string line = one_line(repaired_utf8(text.substr(0, shown_max)));
    return text.size() > shown_max ? line + "..." : line;
}

/// Recursive descent over the text. Every function returns false after the first error.
class selector_parser {
    bytes_view text_;
    std::size_t at_ = 0;
    std::vector<label_matcher> matchers_;
    bool name_given_ = false;  // without a matcher: `up`, `up{...}` or `{"up"}`
    selector_error error_;
    const selector_bounds bounds_;
    std::size_t regexes_ = 0;

  public:
    selector_parser(bytes_view text, const selector_bounds& bounds) : text_(text), bounds_(bounds) {}

    bool parse() { return check_size() && parse_text() && check_names() && check_empty(); }

    std::vector<label_matcher>& matchers() { return matchers_; }
    selector_error& error() { return error_; }

  private:
    // --- Rules.

    bool parse_text() {
        skip_space();
        if (is_name_start(peek()) || peek() == ':') {
            name_given_ = true;
            if (!add(0, std::string{name_label}, match_op::equal, std::string{take_name(is_metric_letter)}))
                return false;
            skip_space();
        } else if (peek() != '{') {
            return unexpected("a metric's name or '{'");
        }
        if (peek() == '{' && !parse_braces()) return false;
        skip_space();
        return at_ == text_.size() || unexpected("the end of the selector");
    }

    bool parse_braces() {
        assert(peek() == '{');
        ++at_;
        for (;;) {
            skip_space();
            if (take('}')) return true;
            if (!parse_matcher()) return false;
            skip_space();
            if (take('}')) return true;
            if (!take(',')) return unexpected("',' or '}'");
        }
    }

    bool parse_matcher() {
        const std::size_t start = at_;
        std::string name;
        bool is_quoted = false;
        if (is_name_start(peek())) {
            name = take_name(is_identifier_character);
        } else if (is_quote(peek())) {
            is_quoted = true;
            if (!parse_string(name)) return false;
            if (name.empty()) return fail(start, "empty name");
            if (!is_utf8(name)) return fail(start, "name that is not UTF-8");
        } else {
            return unexpected("a label's name or '}'");
        }
        skip_space();
        if (is_quoted && (peek() == ',' || peek() == '}')) {
            if (name_given_) return fail(start, "second metric name");
            name_given_ = true;
            return add(start, std::string{name_label}, match_op::equal, std::move(name));
        }
        match_op op{};
        if (!parse_op(op)) return false;
        skip_space();
        const std::size_t value_start = at_;
        std::string value;
        if (!is_quote(peek())) return unexpected("a quoted string");
        return parse_string(value) && add(value_start, std::move(name), op, std::move(value));
    }

    bool parse_op(match_op& op) {
        for (const match_op each : {match_op::regex, match_op::not_regex, match_op::not_equal, match_op::equal}) {
            const bytes_view sign = op_texts[static_cast<std::size_t>(each)];
            if (!text_.substr(at_).starts_with(sign)) continue;
            op = each;
            at_ += sign.size();
            return true;
        }
        return unexpected("'=', '!=', '=~' or '!~'");
    }

    /// Precondition: a quote is next.
    bool parse_string(std::string& out) {
        assert(is_quote(peek()));
        const std::size_t start = at_;
        const char quote = text_[at_++];
        for (;;) {
            const bytes_view rest = text_.substr(at_);
            if (rest.empty() || rest == "\\" || (quote != '`' && rest[0] == '\n'))
                return fail(start, "string without its end");
            if (take(quote)) return true;
            if (quote != '`' && rest[0] == '\\') {
                if (!parse_escape(quote, out)) return false;
                continue;
            }
            const std::size_t size = utf8_size(rest);
            if (size == 0) return fail(at_, "bytes that are not UTF-8");
            out.append(rest.substr(0, size));
            at_ += size;
        }
    }

    /// Precondition: a backslash is next.
    bool parse_escape(char quote, std::string& out) {
        assert(peek() == '\\' && is_quote(quote));
        const std::size_t start = at_++;
        const char c = peek();
        constexpr bytes_view letters = "abfnrtv\\";
        constexpr bytes_view meanings = "\a\b\f\n\r\t\v\\";
        if (const std::size_t found = letters.find(c); found != bytes_view::npos) {
            out += meanings[found];
        } else if (c == quote) {
            out += c;
        } else if (c >= '0' && c <= '7') {
            return parse_code(start, 3, 8, out);
        } else if (c == 'x' || c == 'u' || c == 'U') {
            ++at_;
            return parse_code(start, c == 'x' ? 2 : c == 'u' ? 4 : 8, 16, out);
        } else {
            return fail(start, "unknown escape " + shown(text_.substr(start, 1 + utf8_size(text_.substr(at_)))) +
                                   " (a backslash is written \\\\, or put the string in backquotes)");
        }
        ++at_;
        return true;
    }

    /// The digits of an escape: a byte in octal or with `\x`, otherwise a code point.
    bool parse_code(std::size_t start, std::size_t digits, int base, std::string& out) {
        assert(start < at_ && digits >= 2 && digits <= 8 && base <= 16);
        std::uint32_t code = 0;
        const bytes_view number = text_.substr(at_, digits);
        const char* const end = std::from_chars(number.data(), number.data() + number.size(), code, base).ptr;
        at_ += static_cast<std::size_t>(end - number.data());
        if (end != number.data() + digits)
            return fail(start, "incomplete escape " + shown(text_.substr(start, at_ - start)));
        const bool is_byte = digits <= 3;
        if (is_byte ? code > 0xff : code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
            return fail(start, "impossible character " + shown(text_.substr(start, at_ - start)));
        if (is_byte)
            out += static_cast<char>(static_cast<unsigned char>(code));
        else
            append_utf8(out, code);
        return true;
    }

    bool add(std::size_t offset, std::string name, match_op op, std::string value) {
        assert(!name.empty() && offset <= text_.size());
        if (matchers_.size() == matchers_per_selector_max)
            return fail(std::nullopt, "more than " + std::to_string(matchers_per_selector_max) + " matchers");
        label_matcher made{std::move(name), op, std::move(value), {}};
        if (op == match_op::equal || op == match_op::not_equal) {
            made.pattern = value_pattern::literal(made.value);
        } else {
            auto pattern = value_pattern::compile(made.value, bounds_.regex_memory_max);
            if (!pattern) return fail(offset, "bad regular expression (" + shown(pattern.error()) + ")");
            if (pattern->uses_regex() && ++regexes_ > bounds_.regexes_max)
                return fail(std::nullopt, "more than " + std::to_string(bounds_.regexes_max) + " regular expressions");
            made.pattern = std::move(*pattern);
        }
        matchers_.push_back(std::move(made));
        return true;
    }

    // --- Checks of the whole selector.

    bool check_size() {
        return text_.size() <= selector_bytes_max ||
               fail(std::nullopt, "selector of more than " + std::to_string(selector_bytes_max) + " bytes");
    }

    bool check_names() {
        const auto count = std::ranges::count(matchers_, name_label, &label_matcher::name);
        return !name_given_ || count == 1 || fail(std::nullopt, "the metric's name is given twice");
    }

    bool check_empty() {
        const bool some = std::ranges::any_of(matchers_, [](const label_matcher& m) { return !m.accepts(""); });
        return some || fail(std::nullopt,
                            "selects series that have none of its labels; at least one matcher must refuse the empty "
                            "string, as in {__name__=~\".+\"}");
    }

    // --- Characters.

    /// The next character; a null character at the end, which no rule accepts.
    [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

    bool take(char c) {
        const bool is_next = at_ < text_.size() && text_[at_] == c;
        at_ += is_next;
        return is_next;
    }

    bytes_view take_name(bool (*is_letter_of)(char)) {
        const std::size_t start = at_;
        while (is_letter_of(peek())) ++at_;
        return text_.substr(start, at_ - start);
    }

    void skip_space() {
        while (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r') ++at_;
    }

    static bool is_quote(char c) { return c == '"' || c == '\'' || c == '`'; }

    // --- Errors.

    bool fail(std::optional<std::size_t> offset, std::string message) {
        assert(!message.empty() && offset.value_or(0) <= text_.size());
        error_ = {std::move(message), offset};
        return false;
    }

    bool unexpected(const char* wanted) {
        const bytes_view rest = text_.substr(at_);
        const bytes_view character = rest.substr(0, std::max<std::size_t>(utf8_size(rest), 1));
        std::string code;
        if (!rest.empty()) append_code(code, character);
        std::string found;
        if (rest.empty())
            found = "the end";
        else if (needs_code(rest))
            found = "byte 0" + code.substr(1);
        else
            found = "'" + (is_control_character(character) ? code : std::string{character}) + "'";
        return fail(at_, "expected " + std::string{wanted} + ", found " + found);
    }
};

}  // namespace

std::string to_string(const selector_error& error) {
    return error.offset ? error.message + " at byte " + std::to_string(*error.offset) : error.message;
}

bool selector::matches(std::span<const label_view> labels) const {
    return std::ranges::all_of(
        matchers_, [&](const label_matcher& matcher) { return matcher.accepts(label_value(labels, matcher.name)); });
}

std::string selector::to_string() const {
    // Only a single equality on the name can be written without a matcher.
    const auto on_name = std::ranges::find(matchers_, name_label, &label_matcher::name);
    const bool is_short = std::ranges::count(matchers_, name_label, &label_matcher::name) == 1 &&
                          on_name->op == match_op::equal && !on_name->value.empty() && is_utf8(on_name->value);
    std::string name;
    std::string inner;
    if (is_short && !is_digit(on_name->value[0]) && std::ranges::all_of(on_name->value, is_metric_letter))
        name = on_name->value;
    else if (is_short)
        inner = in_quotes(on_name->value);
    for (const label_matcher& matcher : matchers_) {
        if (is_short && matcher.name == name_label) continue;
        if (!inner.empty()) inner += ',';
        inner += is_identifier(matcher.name) ? matcher.name : in_quotes(matcher.name);
        inner += op_texts[static_cast<std::size_t>(matcher.op)];
        inner += in_quotes(matcher.value);
    }
    return inner.empty() && !name.empty() ? name : name + "{" + inner + "}";
}

result<selector, selector_error> parse_selector(std::string_view text, const selector_bounds& bounds) {
    selector_parser parser{text, bounds};
    if (!parser.parse()) return std::move(parser.error());
    selector made;
    made.matchers_ = std::move(parser.matchers());
    std::ranges::sort(made.matchers_);
    made.matchers_.erase(std::unique(made.matchers_.begin(), made.matchers_.end()), made.matchers_.end());
    assert(!made.matchers_.empty() && made.matchers_.size() <= matchers_per_selector_max);
    return made;
}

}  // namespace seriesgate
