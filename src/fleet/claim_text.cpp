#include "fleet/claim_text.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string_view>

#include "fleet/feed_text.hpp"
#include "limit/verdict.hpp"

namespace seriesgate {

namespace {

/// What is said once of budgets that have it in common.
template <class T>
class numbered {
    std::map<T, std::size_t> places_;
    std::vector<T> in_order_;

  public:
    /// @return its place, from 1.
    std::size_t place_of(const T& value) {
        const auto [at, is_new] = places_.try_emplace(value, in_order_.size() + 1);
        if (is_new) in_order_.push_back(value);
        return at->second;
    }
    [[nodiscard]] const std::vector<T>& in_order() const { return in_order_; }
};

using kind_words = std::array<std::uint64_t, 3>;  // maxima, place of the limit
using limit_budgets_words =
    std::array<std::uint64_t, 5>;  // id, budgets at most, place of the overflow budget, its maxima

/// Each once, and which of them each series has.
struct family_words {
    numbered<std::uint64_t> all;
    std::string of_series;  // their places, a byte each; 0: none

    explicit family_words(const std::vector<std::uint64_t>& families) {
        for (const std::uint64_t family : families)
            of_series += static_cast<char>(family == 0 ? 0 : all.place_of(family));
    }
};

/// Budgets of one limit are of one kind, unless one has maxima of its own; all of them are of one limit.
struct budget_kinds {
    numbered<std::uint64_t> overflow_ids;
    numbered<limit_budgets_words> limits_budgets;
    numbered<kind_words> kinds;
    std::string of_budgets;  // places of their kinds

    explicit budget_kinds(const std::vector<claimed_budget>& budgets) {
        for (const claimed_budget& budget : budgets)
            of_budgets += static_cast<char>(
                kinds.place_of({budget.maxima.hourly, budget.maxima.daily, limit_budgets_of(budget)}));
    }

  private:
    std::uint64_t limit_budgets_of(const claimed_budget& budget) {
        if (budget.limit_budgets == 0) return 0;
        return limits_budgets.place_of({budget.limit_budgets, budget.places_max,
                                        overflow_ids.place_of(budget.overflow_id), budget.overflow_maxima.hourly,
                                        budget.overflow_maxima.daily});
    }
};

class claim_writer {
    std::vector<std::string> words_{""};  // the first is the number of keys

  public:
    explicit claim_writer(std::size_t words) { words_.reserve(words); }

    void key(std::string name) { words_.push_back(std::move(name)); }
    void buckets(std::string_view record, const std::vector<std::uint64_t>& fingerprints, std::uint32_t count) {
        for (const std::uint64_t fingerprint : fingerprints) key(bucket_key(record, fingerprint, count));
    }
    void end_keys() { words_.front() = std::to_string(words_.size() - 1); }

    void word(std::string text) { words_.push_back(std::move(text)); }
    template <class... Numbers>
    void numbers(Numbers... values) {
        (words_.push_back(std::to_string(values)), ...);
    }

    std::vector<std::string> take() { return std::move(words_); }
};

void write_keys(claim_writer& to, const claim& asked, const std::vector<std::uint64_t>& families,
                const claim_terms& terms, const store_keys& keys) {
    const std::string hour = keys.hour(terms.hour);
    const std::string before = keys.hour(terms.hour - 1);
    const std::string day = keys.day(day_of_hour(terms.hour));
    to.key(keys.head());
    to.key(hour);
    to.key(before);
    to.key(day);
    to.key(keys.feed(terms.hour));
    const std::int64_t days_first = day_of_hour(terms.hour) * 24;
    to.key(keys.hour(days_first));
    to.key(keys.hour(days_first - 1));
    const bool has_day = terms.with_day && terms.buckets.day != 0;
    if (terms.buckets.hour != 0) to.buckets(hour, asked.fingerprints, terms.buckets.hour);
    if (has_day) to.buckets(day, asked.fingerprints, terms.buckets.day);
    if (terms.buckets.before != 0) to.buckets(before, asked.fingerprints, terms.buckets.before);
    if (!families.empty()) {
        if (terms.buckets.hour != 0) to.buckets(hour, families, terms.buckets.hour);
        if (has_day) to.buckets(day, families, terms.buckets.day);
        to.key(keys.completed(hour));
        if (terms.with_day) to.key(keys.completed(day));
    }
    to.end_keys();
}

void write_terms(claim_writer& to, const claim_terms& terms) {
    to.numbers(terms.hour, terms.rules, terms.grace, terms.with_day ? 1 : 0, terms.room, terms.day_room,
               terms.buckets.hour, terms.buckets.day, terms.buckets.before);
}

std::string run_text(const claim_run& run) {
    assert(run.series <= claimed_series_max);
    std::string text(1, static_cast<char>((run.series - 1) | (run.look ? 0x80 : 0)));
    text.append(run.budgets.begin(), run.budgets.end());
    return text;
}

void write_claim(claim_writer& to, const claim& asked, const family_words& families, const claim_terms& terms) {
    const budget_kinds said{asked.budgets};
    const auto runs = std::count_if(asked.runs.begin(), asked.runs.end(), [](auto& run) { return run.series != 0; });
    to.numbers(asked.fingerprints.size(), runs, said.limits_budgets.in_order().size(), said.kinds.in_order().size(),
               asked.budgets.size(), said.overflow_ids.in_order().size());
    to.word(said.of_budgets);
    to.numbers(terms.all_rules, terms.owed ? 2 : terms.accepted ? 1 : 0, static_cast<std::int64_t>(terms.gate));
    to.word(fingerprint_bytes(asked.fingerprints));
    to.numbers(terms.reserve, families.all.in_order().size());
    for (const std::uint64_t fingerprint : asked.fingerprints) to.word(member_text(fingerprint));
    for (const claimed_budget& budget : asked.budgets) to.numbers(budget.id);
    for (const std::uint64_t id : said.overflow_ids.in_order()) to.numbers(id);
    for (const claim_run& run : asked.runs)
        if (run.series != 0) to.word(run_text(run));
    for (const kind_words& kind : said.kinds.in_order()) to.numbers(kind[0], kind[1], kind[2]);
    for (const limit_budgets_words& limit_budgets : said.limits_budgets.in_order())
        to.numbers(limit_budgets[0], limit_budgets[1], limit_budgets[2], limit_budgets[3], limit_budgets[4]);
    if (families.all.in_order().empty()) return;
    to.numbers(terms.histogram_margin, terms.histogram_series_max);
    for (const std::uint64_t family : families.all.in_order()) to.word(member_text(family));
    to.word(families.of_series);
    to.word(fingerprint_bytes(families.all.in_order()));
}

// The numbers of the answer's parts, and of its first number. claim.lua has the same.
constexpr std::size_t windows_parts = 7;
constexpr std::size_t decided_parts = 9;
constexpr std::size_t numbers_of_budget = 4;

std::span<redisReply* const> parts_of(const redisReply& reply) {
    return {reply.element, static_cast<std::size_t>(reply.elements)};
}

/// @return nothing if any of them is no whole number.
std::optional<std::vector<std::int64_t>> integers(std::span<redisReply* const> parts) {
    std::vector<std::int64_t> numbers;
    numbers.reserve(parts.size());
    for (const redisReply* part : parts) {
        if (part == nullptr || part->type != REDIS_REPLY_INTEGER) return std::nullopt;
        numbers.push_back(part->integer);
    }
    return numbers;
}

bool is_bucket_count(std::int64_t number) {
    return number >= 0 && number <= std::numeric_limits<std::uint32_t>::max() && (number & (number - 1)) == 0;
}

/// @param numbers status, seconds, microseconds, hour, buckets of hour, day, hour before.
bool read_windows(std::span<const std::int64_t> numbers, claim_answer& to) {
    constexpr std::int64_t seconds_max = 9'000'000'000;  // nanoseconds in 64 bits end in the year 2262
    if (numbers[0] < 0 || numbers[0] > 3 || numbers[1] < 0 || numbers[1] > seconds_max) return false;
    if (numbers[2] < 0 || numbers[2] >= 1'000'000) return false;
    if (!is_bucket_count(numbers[4]) || !is_bucket_count(numbers[5]) || !is_bucket_count(numbers[6])) return false;
    to.status = static_cast<claim_status>(numbers[0]);
    to.windows = {.now = time_point{std::chrono::seconds{numbers[1]} + std::chrono::microseconds{numbers[2]}},
                  .hour = numbers[3],
                  .buckets = {.hour = static_cast<std::uint32_t>(numbers[4]),
                              .day = static_cast<std::uint32_t>(numbers[5]),
                              .before = static_cast<std::uint32_t>(numbers[6])}};
    return true;
}

/// @param detail of those refused the budget, of those taken the windows in which they were completed: 1 the hour, 2
/// the day.
std::optional<series_answer> read_outcome(char letter, std::uint8_t detail) {
    using enum claim_outcome;
    switch (letter) {
        case 'k':
            return series_answer{.outcome = known};
        case 't':
            if (detail > 3) return std::nullopt;
            return series_answer{.outcome = taken, .completed = {.hour = (detail & 1) != 0, .day = (detail & 2) != 0}};
        case 'u':
            return series_answer{.outcome = unknown};
        case 'h':
            return series_answer{.outcome = refused, .budget = detail, .window = refusing_window::hourly};
        case 'd':
            return series_answer{.outcome = refused, .budget = detail, .window = refusing_window::daily};
        default:
            return std::nullopt;
    }
}

bool read_series(const redisReply& part, const claim& asked, claim_answer& to) {
    if (part.type != REDIS_REPLY_STRING) return false;
    const std::string_view bytes{part.str, static_cast<std::size_t>(part.len)};
    if (bytes.size() != 2 * asked.fingerprints.size()) return false;
    to.series.reserve(asked.fingerprints.size());
    for (std::size_t i = 0; i < bytes.size(); i += 2) {
        const auto outcome = read_outcome(bytes[i], static_cast<std::uint8_t>(bytes[i + 1]));
        if (!outcome || (outcome->outcome == claim_outcome::refused && outcome->budget >= asked.budgets.size()))
            return false;
        to.series.push_back(*outcome);
    }
    return true;
}

bool read_budgets(const redisReply& part, const claim& asked, claim_answer& to) {
    if (part.type != REDIS_REPLY_ARRAY || part.elements != numbers_of_budget * asked.budgets.size()) return false;
    const auto numbers = integers(parts_of(part));
    if (!numbers) return false;
    to.budgets.reserve(asked.budgets.size());
    for (std::size_t i = 0; i < numbers->size(); i += numbers_of_budget) {
        const auto shares = (*numbers)[i], hourly = (*numbers)[i + 1], daily = (*numbers)[i + 2],
                   awaited = (*numbers)[i + 3];
        if (shares < 0 || shares > 1 || hourly < 0 || daily < 0 || awaited < -1) return false;
        to.budgets.push_back({.shares = shares == 1,
                              .hourly = static_cast<std::uint64_t>(hourly),
                              .daily = static_cast<std::uint64_t>(daily),
                              .awaited = awaited < 0 ? all_awaited : static_cast<std::uint64_t>(awaited)});
    }
    return true;
}

}  // namespace

std::vector<std::string> claim_words(const claim& asked, const claim_terms& terms, const store_keys& keys) {
    assert(asked.fingerprints.size() <= claimed_series_max && asked.budgets.size() <= claimed_budgets_max);
    assert(asked.families.empty() || asked.families.size() == asked.fingerprints.size());
    const family_words families{asked.families};
    claim_writer writer{70 + 4 * asked.fingerprints.size() + 3 * families.all.in_order().size() + asked.runs.size() +
                        2 * asked.budgets.size()};
    write_keys(writer, asked, families.all.in_order(), terms, keys);
    write_terms(writer, terms);
    write_claim(writer, asked, families, terms);
    writer.word(terms.server);
    return writer.take();
}

result<claim_answer, std::string> read_claim_answer(const redisReply& reply, const claim& asked) {
    if (reply.type == REDIS_REPLY_ERROR) return std::string{reply.str, static_cast<std::size_t>(reply.len)};
    if (reply.type != REDIS_REPLY_ARRAY || reply.elements < windows_parts) return "no answer to a claim";
    const auto parts = parts_of(reply);
    const auto numbers = integers(parts.first(windows_parts));
    claim_answer answer;
    if (!numbers || !read_windows(*numbers, answer)) return "an answer to a claim without windows";
    const bool decided = answer.status == claim_status::decided;
    if (parts.size() != (decided ? decided_parts : windows_parts)) return "an answer to a claim of another length";
    if (!decided) return answer;
    if (parts[7] == nullptr || !read_series(*parts[7], asked, answer))
        return "an answer that is not about the claim's series";
    if (parts[8] == nullptr || !read_budgets(*parts[8], asked, answer))
        return "an answer that is not about the claim's budgets";
    return answer;
}

}  // namespace seriesgate
