#include "fleet/recovery.hpp"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

#include "fleet/recover_script.hpp"

namespace seriesgate {
namespace {

/// A store that is emptied again and again, while it is told: the next sign of life goes on.
constexpr int beginnings_max = 3;
constexpr std::size_t parts_of_answer = 4;

const redis_script& script() {
    static const redis_script made{std::string{recover_script}};
    return made;
}

}  // namespace

std::vector<std::string> words_of(const recovery_words& said, const count_offer& offer,
                                  std::span<const offered_budget> budgets, const store_keys& keys) {
    assert(budgets.size() <= offered_budgets_max);
    std::vector<std::string> words{"6",
                                   keys.head(),
                                   keys.recovery(),
                                   keys.hour(offer.hour),
                                   keys.hour(offer.hour - 1),
                                   keys.day(day_of_hour(offer.hour)),
                                   keys.untold(said.untold.hour),
                                   said.gate,
                                   said.is_last ? "1" : "0"};
    const auto number = [&](auto value) { words.push_back(std::to_string(value)); };
    number(offer.hour);
    number(offer.rules);
    number(offer.buckets.hour);
    number(offer.buckets.day);
    number(said.others.size());
    number(budgets.size());
    words.push_back(said.in);
    number(said.waited.count());
    words.push_back(said.untold.name);
    number(said.untold.hour);
    words.insert(words.end(), said.others.begin(), said.others.end());
    for (const offered_budget& each : budgets) {
        number(each.id);
        number(each.hourly);
        number(each.daily);
        number(each.limit_budgets);
    }
    words.emplace_back();
    return words;
}

result<recovery_answer, std::string> read_recovery_answer(const redisReply& reply) {
    const std::string unexpected = "an answer that the script does not make";
    if (reply.type != REDIS_REPLY_ARRAY || reply.elements != parts_of_answer) return unexpected;
    for (std::size_t i = 0; i + 1 < parts_of_answer; ++i)
        if (reply.element[i]->type != REDIS_REPLY_INTEGER) return unexpected;
    if (reply.element[3]->type != REDIS_REPLY_STRING) return unexpected;
    return recovery_answer{.is_whole = reply.element[2]->integer != 0,
                           .since = std::string{text_of(*reply.element[3])}};
}

void recovery::begin() noexcept {
    in_.clear();
    entered_.reset();
    has_offered_all_ = false;
    offered_up_to_ = 0;
    budgets_ = 0;
}

net::awaitable<result<bool, std::string>> recovery::offer(redis_client& over, std::vector<std::string> others,
                                                          untold_series_of untold, clock::duration patience) {
    recovery_words said{.gate = gate_, .others = std::move(others), .untold = std::move(untold)};
    for (int beginnings = 0; beginnings < beginnings_max; ++beginnings) {
        const count_offer all = shared_.heard.grown_since(offered_up_to_);
        const std::span<const offered_budget> budgets{all.budgets};
        has_offered_all_ = false;
        bool is_another = false;
        recovery_answer answer;
        for (std::size_t at = 0; !is_another && (at == 0 || at < budgets.size()); at += offered_budgets_max) {
            const auto piece = budgets.subspan(at, std::min(offered_budgets_max, budgets.size() - at));
            said.is_last = at + offered_budgets_max >= budgets.size();
            said.in = in_;
            if (entered_) said.waited = std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - *entered_);
            std::vector<std::string> words = words_of(said, all, piece, shared_.keys);
            const auto reply = co_await over.call_script_there(script(), std::move(words), patience);
            if (!reply) co_return reply.error().text;
            auto read = read_recovery_answer(**reply);
            if (!read) co_return read.error();
            answer = std::move(*read);
            // Another one than that in which the rest was offered: this begins anew.
            is_another = answer.since != in_ && (offered_up_to_ != 0 || at != 0);
            if (answer.since != in_ || !entered_) entered_ = clock::now();
            in_ = answer.since;
        }
        if (is_another) {
            offered_up_to_ = 0;
            continue;
        }
        has_offered_all_ = true;
        offered_up_to_ = all.revision;
        budgets_ = std::max(budgets_, shared_.heard.size());
        co_return answer.is_whole;
    }
    co_return false;
}

}  // namespace seriesgate
