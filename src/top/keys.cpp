#include "top/keys.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace seriesgate::top {
namespace {

constexpr char escape = '\x1b';

/// Behind `\x1b[` or `\x1bO`, without what modifiers add.
constexpr std::array<std::pair<std::string_view, special>, 14> sequences{{{"A", special::up},
                                                                          {"B", special::down},
                                                                          {"H", special::home},
                                                                          {"F", special::end},
                                                                          {"Z", special::back_tab},
                                                                          {"1~", special::home},
                                                                          {"7~", special::home},
                                                                          {"4~", special::end},
                                                                          {"8~", special::end},
                                                                          {"5~", special::page_up},
                                                                          {"6~", special::page_down},
                                                                          {"1;5A", special::up},
                                                                          {"1;5B", special::down},
                                                                          {"1;5H", special::home}}};

special meant_by(std::string_view sequence) {
    const auto* const found = std::ranges::find(sequences, sequence, &std::pair<std::string_view, special>::first);
    return found == sequences.end() ? special::none : found->second;
}

bool is_last(char byte) {
    return byte >= 0x40 && byte <= 0x7e;
}

/// How long the sequence at the start of a text is, which begins with an escape character; 0: not complete.
std::size_t sequence_size(std::string_view text) {
    if (text.size() < 2) return 0;
    if (text[1] != '[' && text[1] != 'O') return 1;
    for (std::size_t at = 2; at < text.size(); ++at)
        if (is_last(text[at])) return at + 1;
    return text.size() > key_reader::sequence_bytes_max ? text.size() : 0;
}

}  // namespace

std::vector<key> key_reader::read(std::string_view bytes) {
    std::vector<key> keys;
    const std::string all = std::exchange(pending_, {}).append(bytes);
    for (std::string_view rest = all; !rest.empty();) {
        if (rest.front() != escape) {
            keys.push_back(rest.front() == '\t' ? key{.letter = 0, .other = special::tab}
                                                : key{.letter = rest.front(), .other = special::none});
            rest.remove_prefix(1);
            continue;
        }
        const std::size_t size = sequence_size(rest);
        if (size == 0) {
            pending_ = rest;
            break;
        }
        const special meant = size == 1 ? special::escape : meant_by(rest.substr(2, size - 2));
        if (meant != special::none) keys.push_back({.letter = 0, .other = meant});
        rest.remove_prefix(size);
    }
    return keys;
}

}  // namespace seriesgate::top
