#include "core/text.hpp"

namespace seriesgate {
namespace {

/// Rounds to two digits, or three after a leading 1: an error of at most a twentieth.
std::uint64_t rounded(std::uint64_t estimate) {
    std::uint64_t step = 1;
    while (estimate / step >= 200) step *= 10;
    const std::uint64_t over = estimate % step;
    return estimate - over + (2 * over >= step && estimate - over <= UINT64_MAX - step ? step : 0);
}

}  // namespace

std::string one_line(std::string_view text) {
    std::string line;
    for (std::string_view character; !text.empty(); text.remove_prefix(character.size())) {
        character = text.substr(0, std::max<std::size_t>(utf8_size(text), 1));
        line += is_control_character(character) ? "?" : character;
    }
    return line;
}

std::string without_middle(std::string_view text, kept_ends bytes, std::string_view mark) {
    if (text.size() <= bytes.head + bytes.tail) return std::string{text};
    std::size_t head = bytes.head;
    std::size_t tail = text.size() - bytes.tail;
    for (int i = 0; i < 3 && head > 0 && continues_character(text[head]); ++i) --head;
    for (int i = 0; i < 3 && tail < text.size() && continues_character(text[tail]); ++i) ++tail;
    return std::string{text.substr(0, head)}.append(mark).append(text.substr(tail));
}

std::string grouped(std::uint64_t number) {
    std::string digits = std::to_string(number);
    for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
    return digits;
}

std::string count_text(std::uint64_t count, bool is_exact) {
    return is_exact ? grouped(count) : "about " + grouped(rounded(count));
}

std::string duration_text(std::chrono::seconds duration) {
    const auto text = [](std::int64_t count, const char* unit) { return std::to_string(count) + unit; };
    const auto minutes = std::chrono::floor<std::chrono::minutes>(duration);
    const auto hours = std::chrono::floor<std::chrono::hours>(duration);
    const auto days = std::chrono::floor<std::chrono::days>(duration);
    if (days.count() != 0) return text(days.count(), " d ") + text((hours - days).count(), " h");
    if (hours.count() != 0) return text(hours.count(), " h ") + text((minutes - hours).count(), " min");
    if (minutes.count() != 0) return text(minutes.count(), " min");
    return text(duration.count(), " s");
}

}  // namespace seriesgate
