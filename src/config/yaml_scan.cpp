#include "config/yaml_scan.hpp"

#include <algorithm>
#include <cassert>

namespace seriesgate {
namespace {

bool is_space(char c) noexcept {
    return c == ' ' || c == '\t' || c == '\r';
}

class yaml_scanner {
    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t line_ = 1;
    bool value_may_begin_ = true;  // a quote or a bracket has its meaning only there
    bool in_plain_ = false;        // amid a value without quotes, which may go on in the next line
    std::size_t indent_ = 0;       // of the line that the value began in
    yaml_scan found_;

  public:
    explicit yaml_scanner(std::string_view text) : text_(text) {}

    yaml_scan run() {
        while (at_ < text_.size()) step();
        return std::move(found_);
    }

  private:
    [[nodiscard]] char next() const noexcept { return at_ + 1 < text_.size() ? text_[at_ + 1] : '\n'; }
    [[nodiscard]] bool in_brackets() const noexcept { return !found_.open_brackets.empty(); }

    void step() {
        const char c = text_[at_];
        if (c == '\n') return begin_line();
        if (c == '#' && (at_ == 0 || is_space(text_[at_ - 1]) || text_[at_ - 1] == '\n')) return skip_line();
        if (value_may_begin_ && (c == '\'' || c == '"')) return read_quote(c);
        if (value_may_begin_ && (c == '|' || c == '>') && !in_brackets()) return skip_block();
        if (value_may_begin_ && (c == '&' || c == '!')) return skip_word();
        take_sign(c);
        ++at_;
    }

    /// In brackets a colon needs no space behind a name in quotes: {"a":1}, as in JSON.
    [[nodiscard]] bool is_behind_quote() const noexcept {
        return in_brackets() && !in_plain_ && !value_may_begin_ && (text_[at_ - 1] == '"' || text_[at_ - 1] == '\'');
    }

    void take_sign(char c) {
        const bool is_last = is_space(next()) || next() == '\n';
        if (value_may_begin_ && (c == '[' || c == '{')) {
            found_.open_brackets.push_back({c, line_});
        } else if (in_brackets() && (c == ']' || c == '}')) {
            found_.open_brackets.pop_back();
            value_may_begin_ = in_plain_ = false;
        } else if ((c == ':' && (is_last || is_behind_quote())) || (c == ',' && in_brackets())) {
            value_may_begin_ = true;
            in_plain_ = false;
        } else if (!is_space(c) && !((c == '-' || c == '?') && is_last && value_may_begin_)) {
            value_may_begin_ = false;
            in_plain_ = true;
        }
    }

    void begin_line() {
        ++at_;
        ++line_;
        const std::size_t indent = indent_at(at_);
        const bool is_blank = at_ + indent == text_.size() || text_[at_ + indent] == '\n';
        if (in_plain_ && (is_blank || in_brackets() || indent > indent_)) return;
        value_may_begin_ = true;
        in_plain_ = false;
        indent_ = indent;
    }

    void skip_line() { at_ = std::min(text_.find('\n', at_), text_.size()); }

    void skip_word() { at_ = std::min(text_.find_first_of(" \t\r\n", at_), text_.size()); }

    // Up to the first line that is not indented deeper than the one where the block begins.
    void skip_block() {
        const auto indent = indent_at(at_ == 0 ? 0 : text_.rfind('\n', at_ - 1) + 1);
        skip_line();
        while (at_ < text_.size()) {
            const auto line = at_ + 1;
            const auto first = text_.find_first_not_of(" \t\r", line);
            const bool is_blank = first == std::string_view::npos || text_[first] == '\n';
            if (!is_blank && indent_at(line) <= indent) return;
            begin_line();
            skip_line();
        }
    }

    [[nodiscard]] std::size_t indent_at(std::size_t line) const noexcept {
        return std::min(text_.find_first_not_of(' ', line), text_.size()) - std::min(line, text_.size());
    }

    void read_quote(char sign) {
        yaml_quote quote{sign, line_, 0, true};
        for (++at_; at_ < text_.size() && quote.end_line == 0; ++at_) {
            const bool is_escaped = sign == '"' ? text_[at_] == '\\' : text_[at_] == sign && next() == sign;
            if (text_[at_] == '\n') ++line_;
            if (is_escaped && next() != '\n')
                ++at_;
            else if (text_[at_] == sign)
                quote.end_line = line_;
        }
        at_ = std::min(at_, text_.size());
        value_may_begin_ = false;
        const auto behind = std::min(text_.find_first_not_of(" \t\r", at_), text_.size());
        quote.ends_value =
            behind == text_.size() || std::string_view{"\n,]}:#"}.find(text_[behind]) != std::string_view::npos;
        if (quote.end_line != quote.line || !quote.ends_value) found_.odd_quotes.push_back(quote);
    }
};

}  // namespace

yaml_scan scan_yaml(std::string_view text) {
    return yaml_scanner{text}.run();
}

}  // namespace seriesgate
