#include "fleet/feed_text.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "claim/claim.hpp"
#include "redis/redis_reply.hpp"

namespace seriesgate {
namespace {

constexpr std::string_view id_begin = "0-";
constexpr std::size_t fingerprint_size = 8;
/// claim.lua's: names and values of an entry, in turn.
constexpr std::size_t field_words = 8;
/// The same where histograms have begun.
constexpr std::size_t field_words_max = 10;
/// feed.lua's, of a server that is whole.
constexpr std::size_t words_of_answer = 4;
/// Counts go through numbers of Lua.
constexpr std::uint64_t series_max = std::uint64_t{1} << 53;

template <class T>
std::optional<T> number_of(std::string_view text) {
    T number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

std::span<redisReply* const> parts_of(const redisReply* reply) {
    if (reply == nullptr || reply->type != REDIS_REPLY_ARRAY) return {};
    return {reply->element, static_cast<std::size_t>(reply->elements)};
}

std::string_view text_at(std::span<redisReply* const> parts, std::size_t place) {
    return parts[place] == nullptr ? std::string_view{} : text_of(*parts[place]);
}

bool read_fingerprints(std::string_view bytes, std::vector<std::uint64_t>& into) {
    if (bytes.empty() || bytes.size() % fingerprint_size != 0) return false;
    if (bytes.size() > claimed_series_max * fingerprint_size) return false;
    into.reserve(bytes.size() / fingerprint_size);
    for (std::size_t begin = 0; begin < bytes.size(); begin += fingerprint_size) {
        std::uint64_t one = 0;
        for (std::size_t i = fingerprint_size; i-- > 0;) one = one << 8 | static_cast<unsigned char>(bytes[begin + i]);
        into.push_back(one);
    }
    return true;
}

/// @param text ids and counts in turn, a space between each two.
bool read_counts(std::string_view text, std::vector<fed_count>& into) {
    const auto next = [&text] {
        const std::string_view word = text.substr(0, text.find(' '));
        text.remove_prefix(std::min(text.size(), word.size() + 1));
        return number_of<std::uint64_t>(word);
    };
    while (!text.empty()) {
        const auto id = next();
        const auto series = next();
        if (!id || !series || *series > series_max || into.size() == 2 * claimed_budgets_max) return false;
        into.push_back({.id = *id, .series = *series});
    }
    return true;
}

std::optional<fed_claim> read_claim(const redisReply* entry) {
    const auto parts = parts_of(entry);
    if (parts.size() != 2) return std::nullopt;
    const std::string_view id = text_at(parts, 0);
    const auto fields = parts_of(parts[1]);
    if (!id.starts_with(id_begin) || (fields.size() != field_words && fields.size() != field_words_max))
        return std::nullopt;
    const auto upto = number_of<std::uint64_t>(id.substr(id_begin.size()));
    const auto gate = number_of<std::int64_t>(text_at(fields, 1));
    if (!upto || !gate || *upto > series_max) return std::nullopt;
    fed_claim made{.upto = *upto, .gate = static_cast<std::uint64_t>(*gate)};
    const bool has_families = fields.size() == field_words_max;
    const bool is_read = read_fingerprints(text_at(fields, 3), made.fingerprints) &&
                         read_counts(text_at(fields, 5), made.hourly) && read_counts(text_at(fields, 7), made.daily) &&
                         (!has_families || read_fingerprints(text_at(fields, 9), made.families));
    if (!is_read || made.fingerprints.size() > made.upto) return std::nullopt;
    return made;
}

}  // namespace

std::string fingerprint_bytes(std::span<const std::uint64_t> fingerprints) {
    std::string bytes;
    bytes.reserve(fingerprint_size * fingerprints.size());
    for (const std::uint64_t one : fingerprints)
        for (std::size_t i = 0; i < fingerprint_size; ++i) bytes += static_cast<char>(one >> 8 * i);
    return bytes;
}

std::vector<std::string> feed_words(std::int64_t hour, std::uint64_t read, const store_keys& keys) {
    return {"3", keys.head(), keys.hour(hour), keys.feed(hour), std::to_string(read), std::to_string(fed_claims_max),
            "" /* the server */};
}

result<feed_answer, std::string> read_feed_answer(const redisReply& reply) {
    const std::string unexpected = "an answer that is no feed";
    const auto parts = parts_of(&reply);
    if (parts.empty() || parts[0] == nullptr || parts[0]->type != REDIS_REPLY_INTEGER) return unexpected;
    if (parts[0]->integer == 0 && parts.size() == 1) return feed_answer{};
    const bool is_missing = std::ranges::find(parts, nullptr) != parts.end();
    if (parts[0]->integer != 1 || parts.size() != words_of_answer || is_missing) return unexpected;
    if (parts[1]->type != REDIS_REPLY_INTEGER || parts[1]->integer < 0 || parts[2]->type != REDIS_REPLY_ARRAY ||
        parts[3]->type != REDIS_REPLY_STRING)
        return unexpected;
    feed_answer answer{.is_whole = true,
                       .since = std::string{text_of(*parts[3])},
                       .series = static_cast<std::uint64_t>(parts[1]->integer)};
    const auto entries = parts_of(parts[2]);
    if (entries.size() > fed_claims_max || answer.series > series_max) return unexpected;
    answer.claims.reserve(entries.size());
    for (const redisReply* const entry : entries) {
        auto read = read_claim(entry);
        const std::uint64_t before = answer.claims.empty() ? 0 : answer.claims.back().upto;
        if (!read || read->upto > answer.series || read->upto - read->fingerprints.size() < before) return unexpected;
        answer.claims.push_back(std::move(*read));
    }
    return answer;
}

}  // namespace seriesgate
