#include "fleet/store_text.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <chrono>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "claim/witnessed_clock.hpp"
#include "core/text.hpp"
#include "redis/redis_reply.hpp"

namespace seriesgate {

// --- Words.

namespace {

constexpr std::size_t fixed_keys = 6;

std::int64_t seconds_of(time_point of) {
    return std::chrono::duration_cast<std::chrono::seconds>(of.time_since_epoch()).count();
}

std::string fingerprint_bytes(std::span<const std::uint64_t> fingerprints) {
    static_assert(std::endian::native == std::endian::little);
    return {reinterpret_cast<const char*>(fingerprints.data()), fingerprints.size_bytes()};
}

class word_writer {
    std::vector<std::string> words_{""};  // the first is the number of keys

  public:
    explicit word_writer(std::size_t expected) { words_.reserve(expected); }

    void key(std::string name) { words_.push_back(std::move(name)); }
    void buckets(std::string_view record, const std::vector<std::uint64_t>& fingerprints, std::uint32_t count) {
        if (count == 0) return;
        for (const std::uint64_t fingerprint : fingerprints) key(bucket_key(record, fingerprint, count));
    }
    void end_keys() { words_.front() = std::to_string(words_.size() - 1); }

    void word(std::string text) { words_.push_back(std::move(text)); }
    template <class... Numbers>
    void numbers(Numbers... values) {
        (words_.push_back(std::to_string(values)), ...);
    }

    /// Adds the place of the server's run_id.
    std::vector<std::string> take() {
        words_.emplace_back();
        return std::move(words_);
    }
};

struct window_names {
    std::string hour, before, day;
};

window_names write_fixed_keys(word_writer& to, const store_keys& keys, std::uint64_t generation, std::int64_t hour) {
    window_names names{.hour = keys.hour(generation, hour),
                       .before = keys.hour(generation, hour - 1),
                       .day = keys.day(generation, day_of_hour(hour))};
    for (const std::string& name : {keys.head(), keys.gates(), keys.feed(), names.hour, names.before, names.day})
        to.key(name);
    return names;
}

/// What the store has to know of a budget beside its id. Budgets of one limit mostly have the same text.
std::string encoded_budget(const shared_budget& of, const std::vector<std::uint64_t>& limits) {
    const auto place_of = [&limits](std::uint64_t number) {
        const auto at = std::ranges::lower_bound(limits, number);
        assert(at != limits.end() && *at == number);
        return at - limits.begin() + 1;
    };
    std::string text = std::to_string(place_of(of.limit));
    const auto add = [&text](const auto... numbers) { ((text += " ", text += std::to_string(numbers)), ...); };
    add(of.maxima.hourly, of.maxima.daily, of.completions.hourly, of.completions.daily);
    if (of.sharing != 0) add(place_of(of.sharing), of.overflow_id);
    if (of.group_set != 0)
        add(of.group_set, of.groups_max, of.overflow_maxima.hourly, of.overflow_maxima.daily,
            of.overflow_completions.hourly, of.overflow_completions.daily);
    return text;
}

std::string kind_text(call_kind kind) {
    return kind == call_kind::claim ? "claim" : kind == call_kind::pass ? "pass" : "refill";
}

std::string run_text(const series_run& run) {
    assert(run.series != 0 && run.series <= call_series_max && (!run.budgets.empty() || !run.windows.any()));
    const entered_windows in = run.windows;
    std::string text{
        static_cast<char>(run.series - 1),
        static_cast<char>((in.hour ? 1 : 0) | (in.day ? 2 : 0) | (in.before ? 4 : 0) | (run.completes ? 8 : 0))};
    text.append(run.budgets.begin(), run.budgets.end());
    return text;
}

void write_terms(word_writer& to, const store_call& asked, const gate_terms& terms) {
    const bool enters_before = std::ranges::any_of(asked.runs, [](const auto& run) { return run.windows.before; });
    to.word(kind_text(asked.kind));
    to.word(terms.gate);
    to.numbers(static_cast<std::int64_t>(terms.run), seconds_of(terms.clock));
    to.word(terms.epoch);
    to.numbers(terms.hour, terms.generation, terms.buckets.hour, terms.buckets.day, terms.buckets.before, terms.room,
               terms.day_room);
    to.word(fingerprint_bytes(terms.limits));
    to.numbers(terms.with_day ? 1 : 0, enters_before ? 1 : 0);
}

void write_call(word_writer& to, const store_call& asked, const gate_terms& terms) {
    to.numbers(asked.fingerprints.size(), asked.runs.size(), asked.budgets.size());
    to.word(fingerprint_bytes(asked.fingerprints));
    for (const std::uint64_t each : asked.fingerprints) to.word(member_text(each));
    for (const shared_budget& each : asked.budgets) to.numbers(each.id);
    for (const shared_budget& each : asked.budgets) to.word(encoded_budget(each, terms.limits));
    for (const series_run& run : asked.runs) to.word(run_text(run));
}

}  // namespace

std::vector<std::string> call_words(const store_call& asked, const gate_terms& terms, const store_keys& keys) {
    assert(asked.fingerprints.size() <= call_series_max && asked.budgets.size() <= call_budgets_max);
    word_writer writer{80 + 4 * asked.fingerprints.size() + asked.runs.size() + 2 * asked.budgets.size()};
    const window_names names = write_fixed_keys(writer, keys, terms.generation, terms.hour);
    writer.buckets(names.hour, asked.fingerprints, terms.buckets.hour);
    if (terms.with_day) writer.buckets(names.day, asked.fingerprints, terms.buckets.day);
    writer.buckets(names.before, asked.fingerprints, terms.buckets.before);
    writer.end_keys();
    write_terms(writer, asked, terms);
    write_call(writer, asked, terms);
    return writer.take();
}

std::vector<std::string> heartbeat_words(const heartbeat& of, const store_keys& keys) {
    word_writer writer{24 + 2 * of.heard_of.size()};
    write_fixed_keys(writer, keys, of.generation, of.hour);
    writer.end_keys();
    for (const std::string& each : {std::string{"heartbeat"}, of.gate, of.fingerprints}) writer.word(each);
    writer.numbers(seconds_of(of.clock));
    writer.word(of.version);
    writer.word(of.epoch);
    writer.numbers(of.hour, of.is_told ? (of.has_lapsed ? 2 : 1) : 0);
    writer.word(of.refilled ? std::to_string(*of.refilled) : "d");
    writer.numbers(of.grace.count(), of.leaves ? 1 : 0, of.generation);
    for (const gate_heard_of& each : of.heard_of) {
        writer.word(each.name);
        writer.numbers(each.hour);
    }
    return writer.take();
}

std::vector<std::string> feed_read_words(std::string_view epoch, std::uint64_t read, const store_keys& keys) {
    word_writer writer{fixed_keys + 6};
    write_fixed_keys(writer, keys, 0, 0);
    writer.end_keys();
    writer.word("feed");
    writer.word(std::string{epoch});
    writer.numbers(read, feed_entries_max);
    return writer.take();
}

// --- Answers.

namespace {

constexpr std::size_t windows_parts = 9;
constexpr std::size_t decided_parts = 11;
constexpr std::size_t state_parts = 13;
constexpr std::size_t numbers_of_budget = 4;
constexpr std::size_t words_of_gate = 4;
constexpr std::size_t fingerprint_size = 8;
/// Numbers go through those of Lua.
constexpr std::uint64_t number_max = std::uint64_t{1} << 53;

std::span<redisReply* const> parts_of(const redisReply* reply) {
    if (reply == nullptr || reply->type != REDIS_REPLY_ARRAY) return {};
    return {reply->element, static_cast<std::size_t>(reply->elements)};
}

std::string_view text_at(std::span<redisReply* const> parts, std::size_t place) {
    return place >= parts.size() || parts[place] == nullptr ? std::string_view{} : text_of(*parts[place]);
}

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

constexpr std::int64_t seconds_max = 9'000'000'000;  // nanoseconds in 64 bits end in the year 2262

/// @param numbers seconds, microseconds, hour, generation, buckets (hour, day, before), whether places are kept.
std::optional<open_windows> read_windows(std::span<const std::int64_t> numbers) {
    if (numbers[0] < 0 || numbers[0] > seconds_max || numbers[1] < 0 || numbers[1] >= 1'000'000) return std::nullopt;
    if (numbers[2] < -1 || numbers[2] > seconds_max / 3600 || numbers[3] < 0 || numbers[7] < 0 || numbers[7] > 1)
        return std::nullopt;
    for (const std::int64_t each : numbers.subspan(4, 3))
        if (!is_bucket_count(each)) return std::nullopt;
    return open_windows{.now = time_point{std::chrono::seconds{numbers[0]} + std::chrono::microseconds{numbers[1]}},
                        .hour = numbers[2],
                        .generation = static_cast<std::uint64_t>(numbers[3]),
                        .buckets = {.hour = static_cast<std::uint32_t>(numbers[4]),
                                    .day = static_cast<std::uint32_t>(numbers[5]),
                                    .before = static_cast<std::uint32_t>(numbers[6])},
                        .keeps_places = numbers[7] == 1};
}

std::optional<series_decision> read_decision(char letter, std::uint8_t detail, std::size_t budgets) {
    using enum store_outcome;
    if (letter == 'k') return series_decision{.outcome = known};
    if (letter == 't') return series_decision{.outcome = taken};
    if (letter == 'w') return series_decision{.outcome = waits};
    if (letter == 'u') return series_decision{.outcome = unknown};
    if (letter == 'c' && detail >= 1 && detail <= 3)
        return series_decision{.outcome = completed, .without_room = {.hour = detail % 2 == 1, .day = detail >= 2}};
    if ((letter == 'h' || letter == 'd') && detail < budgets)
        return series_decision{.outcome = refused,
                               .budget = detail,
                               .window = letter == 'h' ? refusing_window::hourly : refusing_window::daily};
    return std::nullopt;
}

bool read_series(std::string_view bytes, const store_call& asked, store_answer& to) {
    if (bytes.size() != 2 * asked.fingerprints.size()) return false;
    to.series.reserve(asked.fingerprints.size());
    std::size_t at = 0;
    for (const series_run& run : asked.runs)
        for (std::uint32_t i = 0; i < run.series; ++i, at += 2) {
            const auto decision =
                read_decision(bytes[at], static_cast<std::uint8_t>(bytes[at + 1]), asked.budgets.size());
            if (!decision) return false;
            const bool is_of_run = std::ranges::find(run.budgets, decision->budget) != run.budgets.end();
            if (decision->outcome == store_outcome::refused && !is_of_run) return false;
            to.series.push_back(*decision);
        }
    return true;
}

bool read_budgets(const redisReply* part, const store_call& asked, store_answer& to) {
    const auto numbers = integers(parts_of(part));
    if (part == nullptr || part->type != REDIS_REPLY_ARRAY || !numbers) return false;
    if (numbers->size() != numbers_of_budget * asked.budgets.size()) return false;
    for (std::size_t i = 0; i < numbers->size(); i += numbers_of_budget) {
        const std::span<const std::int64_t> of{numbers->data() + i, numbers_of_budget};
        if (of[0] < 0 || of[0] > 1 || of[1] < 0 || of[2] < 0 || of[3] < -1) return false;
        to.budgets.push_back({.is_overflow = of[0] == 1,
                              .hourly = static_cast<std::uint64_t>(of[1]),
                              .daily = static_cast<std::uint64_t>(of[2]),
                              .kept = of[3] == -1 ? all_kept : static_cast<std::uint64_t>(of[3])});
    }
    return true;
}

std::optional<store_state> read_state(std::span<redisReply* const> parts) {
    if (parts.size() < state_parts || parts[9] == nullptr || parts[9]->type != REDIS_REPLY_STRING) return std::nullopt;
    const auto begin = integers(parts.first(9));
    const auto end = integers(parts.subspan(10, 3));
    if (!begin || !end || (*begin)[0] < 0 || (*begin)[0] > 2 || (*end)[0] < 0 || (*end)[0] > 1) return std::nullopt;
    if ((*end)[1] < 0 || (*end)[2] < -seconds_max || (*end)[2] > seconds_max) return std::nullopt;
    const auto windows = read_windows(std::span{*begin}.subspan(1));
    if (!windows) return std::nullopt;
    return store_state{.status = static_cast<heartbeat_status>((*begin)[0]),
                       .windows = *windows,
                       .epoch = std::string{text_of(*parts[9])},
                       .is_refilling = (*end)[0] == 1,
                       .fed = static_cast<std::uint64_t>((*end)[1]),
                       .ahead = std::chrono::seconds{(*end)[2]}};
}

/// @return nothing if the bytes are not those of at most so many fingerprints.
std::optional<std::vector<std::uint64_t>> read_fingerprints(std::string_view bytes) {
    if (bytes.size() % fingerprint_size != 0 || bytes.size() > call_series_max * fingerprint_size) return std::nullopt;
    std::vector<std::uint64_t> all(bytes.size() / fingerprint_size);
    std::ranges::copy(bytes, reinterpret_cast<char*>(all.data()));
    return all;
}

/// @param bytes of each run its series - 1, its windows, how many budgets, and their places.
bool read_runs(std::string_view bytes, std::span<const std::uint64_t> fingerprints, fed_call& to) {
    while (!bytes.empty()) {
        if (bytes.size() < 3) return false;
        const auto byte_at = [bytes](std::size_t place) { return static_cast<unsigned char>(bytes[place]); };
        const std::size_t series = byte_at(0) + std::size_t{1}, size = std::size_t{3} + byte_at(2);
        if (series > fingerprints.size() || size > bytes.size() || byte_at(1) > 7) return false;
        fed_run& run = to.runs.emplace_back();
        run.windows = {.hour = (byte_at(1) & 1) != 0, .day = (byte_at(1) & 2) != 0, .before = (byte_at(1) & 4) != 0};
        run.fingerprints.assign(fingerprints.begin(), fingerprints.begin() + static_cast<std::ptrdiff_t>(series));
        for (std::size_t i = 3; i < size; ++i) {
            if (byte_at(i) >= to.budgets.size()) return false;
            run.budgets.push_back(byte_at(i));
        }
        fingerprints = fingerprints.subspan(series);
        bytes.remove_prefix(size);
    }
    return fingerprints.empty();
}

/// @param text of each budget its id and count, a space between each two words. Empty: the call did not count there.
std::optional<std::vector<std::pair<std::uint64_t, std::uint64_t>>> read_counts(std::string_view text) {
    const auto next = [&text] {
        const std::string_view word = text.substr(0, text.find(' '));
        text.remove_prefix(std::min(text.size(), word.size() + 1));
        return whole_number<std::uint64_t>(word);
    };
    std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
    while (!text.empty()) {
        const auto id = next(), count = next();
        if (!id || !count || *count > number_max || all.size() == 2 * call_budgets_max) return std::nullopt;
        all.emplace_back(*id, *count);
    }
    return all;
}

/// The same budgets stand in all three texts, in one order.
bool read_fed_budgets(std::string_view hourly, std::string_view daily, std::string_view before,
                      std::vector<fed_budget>& into) {
    const auto in_hour = read_counts(hourly), in_day = read_counts(daily), in_before = read_counts(before);
    if (!in_hour || !in_day || !in_before) return false;
    for (const auto* each : {&*in_day, &*in_before})
        if (!each->empty() && each->size() != in_hour->size()) return false;
    for (std::size_t i = 0; i < in_hour->size(); ++i) {
        fed_budget& budget = into.emplace_back();
        budget.id = (*in_hour)[i].first;
        budget.hourly = (*in_hour)[i].second;
        if (!in_day->empty()) budget.daily = (*in_day)[i].second;
        if (!in_before->empty()) budget.before = (*in_before)[i].second;
    }
    return true;
}

std::optional<fed_call> read_fed_call(const redisReply* entry) {
    constexpr std::string_view id_begin = "0-";
    constexpr std::size_t field_words = 14;  // names and values, in turn
    const auto parts = parts_of(entry);
    if (parts.size() != 2) return std::nullopt;
    const std::string_view id = text_at(parts, 0);
    const auto fields = parts_of(parts[1]);
    if (!id.starts_with(id_begin) || fields.size() != field_words) return std::nullopt;
    const auto upto = whole_number<std::uint64_t>(id.substr(id_begin.size()));
    const auto run = whole_number<std::int64_t>(text_at(fields, 1));
    const auto hour = whole_number<std::int64_t>(text_at(fields, 3));
    const auto fingerprints = read_fingerprints(text_at(fields, 5));
    if (!upto || !run || !hour || !fingerprints || *upto > number_max || fingerprints->size() > *upto)
        return std::nullopt;
    if (*hour < 0 || *hour > seconds_max / 3600) return std::nullopt;
    fed_call made{.upto = *upto, .run = static_cast<std::uint64_t>(*run), .hour = *hour};
    if (!read_fed_budgets(text_at(fields, 9), text_at(fields, 11), text_at(fields, 13), made.budgets))
        return std::nullopt;
    if (!read_runs(text_at(fields, 7), *fingerprints, made) || made.runs.empty()) return std::nullopt;
    return made;
}

}  // namespace

result<store_answer, std::string> read_answer(const redisReply& reply, const store_call& asked) {
    if (reply.type == REDIS_REPLY_ERROR) return std::string{text_of(reply)};
    const auto parts = parts_of(&reply);
    if (parts.size() < windows_parts) return "no answer to a call";
    const auto numbers = integers(parts.first(windows_parts));
    if (!numbers || (*numbers)[0] < 0 || (*numbers)[0] > 3) return "an answer to a call without windows";
    const auto windows = read_windows(std::span{*numbers}.subspan(1));
    if (!windows) return "an answer to a call without windows";
    store_answer answer{.status = static_cast<store_status>((*numbers)[0]), .windows = *windows};
    const bool is_decided = answer.status == store_status::decided;
    if (parts.size() != (is_decided ? decided_parts : windows_parts)) return "an answer to a call of another length";
    if (!is_decided) return answer;
    if (!read_series(text_at(parts, 9), asked, answer)) return "an answer that is not about the call's series";
    if (!read_budgets(parts[10], asked, answer)) return "an answer that is not about the call's budgets";
    return answer;
}

result<heartbeat_answer, std::string> read_heartbeat_answer(const redisReply& reply) {
    if (reply.type == REDIS_REPLY_ERROR) return std::string{text_of(reply)};
    const std::string unexpected = "no answer to a heartbeat";
    const auto parts = parts_of(&reply);
    auto state = read_state(parts);
    if (!state || (parts.size() - state_parts) % words_of_gate != 0) return unexpected;
    heartbeat_answer answer{.state = std::move(*state)};
    for (std::size_t i = state_parts; i < parts.size(); i += words_of_gate) {
        for (const std::size_t at : {i + 1, i + 3})
            if (parts[at] == nullptr || parts[at]->type != REDIS_REPLY_INTEGER) return unexpected;
        answer.gates.push_back({.name = std::string{text_at(parts, i)},
                                .hour = parts[i + 1]->integer,
                                .version = std::string{text_at(parts, i + 2)},
                                .silent_seconds = parts[i + 3]->integer});
    }
    return answer;
}

result<feed_page, std::string> read_feed_page(const redisReply& reply) {
    if (reply.type == REDIS_REPLY_ERROR) return std::string{text_of(reply)};
    const std::string unexpected = "an answer that is no feed";
    const auto parts = parts_of(&reply);
    auto state = read_state(parts);
    if (!state) return unexpected;
    const bool has_calls = state->status == heartbeat_status::heard;
    if (parts.size() != state_parts + (has_calls ? 1 : 0)) return unexpected;
    feed_page page{.state = std::move(*state)};
    if (!has_calls) return page;
    const auto entries = parts_of(parts[state_parts]);
    if (parts[state_parts] == nullptr || parts[state_parts]->type != REDIS_REPLY_ARRAY) return unexpected;
    if (entries.size() > feed_entries_max) return unexpected;
    for (const redisReply* const entry : entries) {
        auto read = read_fed_call(entry);
        if (!read || read->upto > page.state.fed) return unexpected;
        if (!page.calls.empty() && read->upto <= page.calls.back().upto) return unexpected;
        page.calls.push_back(std::move(*read));
    }
    return page;
}

}  // namespace seriesgate
