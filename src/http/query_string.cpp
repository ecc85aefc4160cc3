#include "http/query_string.hpp"

#include <boost/url/pct_string_view.hpp>

namespace seriesgate {
namespace {

/// Decodes application/x-www-form-urlencoded text. @return false if it is ambiguous or invalid.
bool decode(std::string_view text, std::string& decoded) {
    const auto valid = boost::urls::make_pct_string_view(text);
    if (!valid || text.find_first_of(";#") != std::string_view::npos) return false;
    decoded = valid->decode(boost::urls::encoding_opts{true});
    return true;
}

/// Calls `visit` with each argument's bytes and its decoded form; null if it cannot be decoded.
template <class Visit>
void for_each_argument(std::string_view query, Visit visit) {
    query_argument read;
    while (!query.empty()) {
        const std::string_view bytes = query.substr(0, query.find('&'));
        query.remove_prefix(bytes.size() + (bytes.size() < query.size() ? 1 : 0));
        if (bytes.empty()) continue;
        const auto equals = bytes.find('=');
        const bool good =
            decode(bytes.substr(0, equals), read.name) &&
            decode(equals == std::string_view::npos ? std::string_view{} : bytes.substr(equals + 1), read.value);
        visit(bytes, good ? &read : nullptr);
    }
}

/// Empty for an argument without '=': a value that lost its name could be a secret.
std::string_view name_in(std::string_view argument) {
    const auto equals = argument.find('=');
    return equals == std::string_view::npos ? std::string_view{} : argument.substr(0, equals);
}

}  // namespace

forwarded_query pick_arguments(std::string_view query, const argument_names& names) {
    forwarded_query picked;
    for_each_argument(query, [&](std::string_view bytes, const query_argument* read) {
        if (read == nullptr || !names.contains(read->name)) {
            if (picked.left_out++ == 0) picked.left_out_example = name_in(bytes);
            return;
        }
        if (!picked.text.empty()) picked.text += '&';
        picked.text += bytes;
    });
    return picked;
}

std::optional<std::vector<query_argument>> read_arguments(std::string_view query) {
    std::vector<query_argument> all;
    bool good = true;
    for_each_argument(query, [&](std::string_view, const query_argument* read) {
        good = good && read != nullptr;
        if (good) all.push_back(*read);
    });
    if (!good) return std::nullopt;
    return all;
}

bool has_argument(std::string_view query, std::string_view name, std::string_view value) {
    bool found = false;
    for_each_argument(query, [&](std::string_view, const query_argument* read) {
        found = found || (read != nullptr && read->name == name && read->value == value);
    });
    return found;
}

}  // namespace seriesgate
