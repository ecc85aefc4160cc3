#include "config/secret_text.hpp"

#include <algorithm>
#include <cstddef>

namespace seriesgate {
namespace {

constexpr std::string_view scheme_end = "://";
/// A shorter argument is no secret, and stands in any text by accident.
constexpr std::size_t secret_bytes_min = 4;

/// Whether a query begins behind the question mark: `token=x`, and not the rest of a regular expression.
bool looks_like_query(std::string_view text) {
    constexpr std::string_view name_characters =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-~%[]";
    const std::size_t end = text.find_first_not_of(name_characters);
    return end != 0 && end != std::string_view::npos && text[end] == '=';
}

/// Where the query begins, `?` included; the end of the text if there is none.
std::size_t query_start(std::string_view text) {
    const std::size_t scheme = text.find(scheme_end);
    for (std::size_t at = text.find('?'); at != std::string_view::npos; at = text.find('?', at + 1))
        if (scheme < at || looks_like_query(text.substr(at + 1))) return at;
    return text.size();
}

void replace_all(std::string& text, std::string_view what, std::string_view by) {
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
        text.replace(at, what.size(), by);
}

}  // namespace

std::string without_secrets(std::string_view text) {
    const std::size_t query = query_start(text);
    const std::string_view before = text.substr(0, query);
    const std::size_t authority = before.find(scheme_end);
    // Whoever has a slash in a password has not escaped it: so from the first scheme to the last '@' of all.
    const std::size_t at = before.rfind('@');
    std::string shown;
    if (authority != std::string_view::npos && at != std::string_view::npos && at >= authority + scheme_end.size())
        shown.append(before.substr(0, authority + scheme_end.size())).append(secret_mark).append(before.substr(at));
    else
        shown.append(before);
    if (query + 1 < text.size()) return shown.append("?").append(secret_mark);
    return shown.append(text.substr(query));
}

std::string without(const secret_text& secret, std::string_view text) {
    std::string shown{text};
    if (secret.reveal().size() >= secret_bytes_min) replace_all(shown, secret.reveal(), secret_mark);
    return shown;
}

std::string without_arguments_of(const secret_text& url, std::string_view text) {
    std::string shown{text};
    std::string_view query = url.reveal();
    query.remove_prefix(query_start(query));
    while (!query.empty()) {
        query.remove_prefix(1);  // '?' or '&'
        const std::string_view argument = query.substr(0, query.find('&'));
        if (argument.size() >= secret_bytes_min) replace_all(shown, argument, secret_mark);
        query.remove_prefix(argument.size());
    }
    return shown;
}

}  // namespace seriesgate
