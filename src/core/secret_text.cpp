#include "core/secret_text.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "core/text.hpp"

namespace seriesgate {
namespace {

constexpr std::string_view scheme_end = "://";
/// A shorter argument is no secret and occurs in texts by chance.
constexpr std::size_t secret_bytes_min = 4;

/// Whether a query follows the question mark: `token=x`, not the rest of a regular expression.
bool looks_like_query(std::string_view text) {
    constexpr std::string_view name_characters =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-~%[]";
    const std::size_t end = text.find_first_not_of(name_characters);
    return end != 0 && end != std::string_view::npos && text[end] == '=';
}

/// Position of the query's `?`; the end of the text if there is none.
std::size_t query_start(std::string_view text) {
    const std::size_t scheme = text.find(scheme_end);
    for (std::size_t at = text.find('?'); at != std::string_view::npos; at = text.find('?', at + 1))
        if (scheme < at || looks_like_query(text.substr(at + 1))) return at;
    return text.size();
}

/// Decodes like a server: `%41` is `A`, and `+` a space.
std::string decoded(std::string_view text) {
    std::string plain;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const bool is_escape = text[at] == '%' && at + 2 < text.size();
        const auto code = is_escape ? whole_number<unsigned>(text.substr(at + 1, 2), 16) : std::nullopt;
        plain += code ? static_cast<char>(*code) : text[at] == '+' ? ' ' : text[at];
        if (code) at += 2;
    }
    return plain;
}

}  // namespace

std::string without_secrets(std::string_view text) {
    const std::size_t query = query_start(text);
    const std::string_view before = text.substr(0, query);
    const std::size_t authority = before.find(scheme_end);
    // A slash in a password is unescaped: so the secret extends from the first scheme to the last '@'.
    const std::size_t at = before.rfind('@');
    std::string shown;
    if (authority != std::string_view::npos && at != std::string_view::npos && at >= authority + scheme_end.size())
        shown.append(before.substr(0, authority + scheme_end.size())).append(secret_mark).append(before.substr(at));
    else
        shown.append(before);
    if (query + 1 < text.size()) return shown.append("?").append(secret_mark);
    return shown.append(text.substr(query));
}

void add_arguments_of(const secret_text& url, std::vector<secret_text>& to) {
    std::string_view query = url.reveal();
    query.remove_prefix(query_start(query));
    while (!query.empty()) {
        query.remove_prefix(1);  // '?' or '&'
        const std::string_view argument = query.substr(0, query.find('&'));
        for (const std::string_view each : {argument, argument.substr(argument.find('=') + 1)}) {
            to.emplace_back(each);
            to.emplace_back(decoded(each));
        }
        query.remove_prefix(argument.size());
    }
}

/// One pass, longest secret first: so neither a mark nor a remainder is taken for another secret.
std::string without(std::vector<secret_text> secrets, std::string_view text) {
    const auto size_of = [](const secret_text& each) { return each.reveal().size(); };
    std::erase_if(secrets, [&](const secret_text& each) { return size_of(each) < secret_bytes_min; });
    std::ranges::sort(secrets, std::ranges::greater{}, size_of);
    std::string shown;
    while (!text.empty()) {
        const auto begins_here = [text](const secret_text& each) { return text.starts_with(each.reveal()); };
        const auto found = std::ranges::find_if(secrets, begins_here);
        shown += found == secrets.end() ? text.substr(0, 1) : secret_mark;
        text.remove_prefix(found == secrets.end() ? 1 : size_of(*found));
    }
    return shown;
}

}  // namespace seriesgate
