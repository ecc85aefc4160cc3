/// Lines of a terminal. Whatever text goes into one has nothing left in it that a terminal could take for an order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace seriesgate::top {

enum class tone : std::uint8_t { plain, strong, faint, good, warning, bad, chosen };

/// Characters that do something, or that cannot be seen, as codes (`\x1b`, `\u202e`, `\U000e0041`), bytes that are no
/// UTF-8 as `\xff`, and of marks that stand above others no more than two on one. All else, backslashes too, is as it
/// was.
std::string fit_to_be_seen(std::string_view text);

/// How many columns a text of fit_to_be_seen() takes.
std::size_t columns_of(std::string_view seen);

/// Of a text of fit_to_be_seen() no more than so many columns: `abc...xyz`, since names mostly differ at their ends. No
/// character is cut.
std::string shortened(std::string_view seen, std::size_t columns_max);

/// As lines of no more than so many columns, mostly broken at blanks; `columns_max` is at least 2.
std::vector<std::string> wrapped(std::string_view text, std::size_t columns_max);

/// Pieces of text, each in a tone of its own.
class line {
  public:
    struct piece {
        tone in;
        std::string text;  ///< of fit_to_be_seen()
    };

    line() = default;
    explicit line(std::string_view text, tone in = tone::plain) { add(text, in); }

    line& add(std::string_view text, tone in = tone::plain);
    /// No more than so many columns of it.
    line& add_shortened(std::string_view text, std::size_t columns_max, tone in = tone::plain);
    /// Blanks up to that column.
    line& fill_to(std::size_t column, char with = ' ', tone in = tone::plain);

    [[nodiscard]] std::size_t columns() const noexcept { return columns_; }
    [[nodiscard]] const std::vector<piece>& pieces() const noexcept { return pieces_; }
    /// All of it in one, without blanks at its end.
    [[nodiscard]] std::string text() const;
    /// The same, no wider than that.
    [[nodiscard]] line cut_to(std::size_t columns_max) const;

  private:
    std::vector<piece> pieces_;
    std::size_t columns_ = 0;
};

}  // namespace seriesgate::top
