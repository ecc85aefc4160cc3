/// Lines of a terminal, free of control sequences.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace seriesgate::top {

enum class tone : std::uint8_t { plain, strong, faint, good, warning, bad, chosen };

/// Makes a text safe to show. Control and invisible characters become codes (`\x1b`, `\u202e`, `\U000e0041`), invalid
/// UTF-8 becomes `\xff`, and a character keeps at most two combining marks. Everything else, backslashes too, stays.
std::string fit_to_be_seen(std::string_view text);

/// Columns of a text from fit_to_be_seen().
std::size_t columns_of(std::string_view seen);

/// Shortens a text from fit_to_be_seen() to `abc...xyz`, since names often differ at their ends. Cuts no character.
std::string shortened(std::string_view seen, std::size_t columns_max);

/// Breaks into lines, preferably at blanks; `columns_max` is at least 2.
std::vector<std::string> wrapped(std::string_view text, std::size_t columns_max);

class line {
  public:
    struct piece {
        tone in;
        std::string text;
    };

    line() = default;
    explicit line(std::string_view text, tone in = tone::plain) { add(text, in); }

    line& add(std::string_view text, tone in = tone::plain);
    line& add_shortened(std::string_view text, std::size_t columns_max, tone in = tone::plain);
    line& fill_to(std::size_t column, char with = ' ', tone in = tone::plain);

    [[nodiscard]] std::size_t columns() const noexcept { return columns_; }
    [[nodiscard]] const std::vector<piece>& pieces() const noexcept { return pieces_; }
    /// The whole text, without blanks at its end.
    [[nodiscard]] std::string text() const;
    /// A line that loses text ends in `>`: a rule to paste must not look whole.
    [[nodiscard]] line cut_to(std::size_t columns_max) const;

  private:
    std::vector<piece> pieces_;
    std::size_t columns_ = 0;
};

}  // namespace seriesgate::top
