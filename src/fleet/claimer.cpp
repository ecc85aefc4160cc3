#include "fleet/claimer.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "claim/rule_terms.hpp"
#include "fleet/claim_text.hpp"

namespace seriesgate {
namespace {

/// Claims of one worker under way: enough to keep the store busy while their answers are on the way.
constexpr std::size_t claims_at_once = 4;
/// Requests of one worker that wait to ask.
constexpr std::size_t waiting_max = 1024;
/// A store that moves its sets again and again is no store.
constexpr int moves_max = 3;

}  // namespace

claimer::claimer(net::io_context& io, fleet_shared& shared)
    : shared_(shared), client_(io, shared.settings.store, shared.store), turns_(io, claims_at_once, waiting_max) {}

told_outcome claimer::without_answer() const noexcept {
    const bool admits = shared_.settings.on_unavailable == unavailable_answer::admit;
    return admits ? told_outcome::let_pass : told_outcome::withheld;
}

void claimer::maintain() {
    client_.maintain();
}

net::awaitable<std::optional<told>> claimer::ask(questions& of, std::string_view tenant, bool may_owe) {
    std::vector<std::optional<claim_answer>> answers;
    const claim_terms terms = terms_of(of);
    const auto limit = clock::now() + shared_.settings.store.timeout;
    end came_of_it = end::decided;
    do {
        std::size_t i = answers.size();
        answers.resize(of.claims().size());
        for (; i < answers.size() && shared_.state() == fleet_state::joined; ++i) {
            if (came_of_it == end::unanswered) break;  // nor would the others be
            came_of_it = co_await ask_one(of.claims()[i], terms, tenant, limit, answers[i]);
            if (came_of_it == end::closed) co_return std::nullopt;
        }
    } while (of.ask_rest(answers));
    count(of, answers);
    shared_.metrics.unasked_series.add(of.unasked_count());
    co_return tell(of, answers, may_owe);
}

claim_terms claimer::terms_of(const questions& of) const {
    return with_reserve(of.terms(), shared_.settings.left_to_shares());
}

told claimer::tell(questions& of, const std::vector<std::optional<claim_answer>>& answers, bool may_owe) {
    const bool all_answered = std::ranges::all_of(answers, [](const auto& each) { return each.has_value(); });
    const bool is_moot = all_answered && shared_.own_shares.owed() == 0;
    if (is_moot || shared_.settings.left_to_shares() == 0) return of.tell(answers, without_answer());
    const std::int64_t hour = of.terms().hour;
    const auto besides = [&](std::uint64_t fingerprint, std::span<const claimed_budget* const> budgets,
                             bool is_answered) {
        return out_of_share(fingerprint, budgets, hour, may_owe && !is_answered);
    };
    return of.tell(answers, without_answer(), besides);
}

/// What is owed passes until the store has been told of it, whatever it says of it as a new series meanwhile.
std::optional<told_outcome> claimer::out_of_share(std::uint64_t fingerprint,
                                                  std::span<const claimed_budget* const> budgets, std::int64_t hour,
                                                  bool may_be_added) {
    if (shared_.own_shares.owes(fingerprint, hour)) return told_outcome::let_pass;
    if (!may_be_added) return std::nullopt;
    charges_.clear();
    for (const claimed_budget* const each : budgets) {
        charges_.push_back({.id = each->id, .maxima = each->maxima});
        // As long as it is not known in which of the two the store would count it, both must have room.
        if (each->limit_budgets != 0 && !shared_.heard.has_place(each->id, hour))
            charges_.push_back({.id = each->overflow_id, .maxima = each->overflow_maxima});
    }
    switch (shared_.own_shares.take(fingerprint, charges_, hour)) {
        case shares::entry::added:
            shared_.metrics.shared_out.add();
            return told_outcome::owed;
        case shares::entry::there:
            return told_outcome::let_pass;
        case shares::entry::refused:
            break;
    }
    return std::nullopt;
}

net::awaitable<claimer::end> claimer::ask_patiently(const questions& of, std::string_view tenant, bool owed,
                                                    std::vector<std::optional<claim_answer>>& answers) {
    claim_terms terms = terms_of(of);
    terms.accepted = !owed;
    terms.owed = owed;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        if (shared_.state() != fleet_state::joined) co_return end::unanswered;
        const auto limit = clock::now() + shared_.settings.store.timeout;
        const end came_of_it = co_await ask_one(of.claims()[i], terms, tenant, limit, answers[i]);
        if (came_of_it != end::decided) co_return came_of_it;
    }
    count(of, answers);
    co_return end::decided;
}

net::awaitable<claimer::end> claimer::ask_one(const claim& one, claim_terms terms, std::string_view tenant,
                                              clock::time_point limit, std::optional<claim_answer>& answer) {
    terms.gate = shared_.gate;
    for (int moves = 0; moves <= moves_max; ++moves) {
        terms.buckets = shared_.buckets.of(terms.hour);
        auto said = co_await send(one, terms, tenant, limit);
        if (!said) co_return end::unanswered;
        if (said->status == claim_status::lost) {
            shared_.metrics.lost.add();
            co_return end::unanswered;
        }
        shared_.hear(said->windows);
        if (said->status == claim_status::closed) {
            shared_.metrics.closed.add();
            co_return end::closed;
        }
        if (said->status == claim_status::moved) continue;
        shared_.heard.hear(one, terms, *said);
        answer = std::move(said);
        co_return end::decided;
    }
    co_return end::unanswered;
}

net::awaitable<std::optional<claim_answer>> claimer::send(const claim& one, const claim_terms& terms,
                                                          std::string_view tenant, clock::time_point limit) {
    shared_.metrics.waiting.add();
    const fair_queue::turn mine = co_await turns_.take(tenant, limit);
    shared_.metrics.waiting.sub();
    if (!mine) {
        shared_.metrics.no_turn.add();
        co_return std::nullopt;
    }
    const auto begin = clock::now();
    if (begin >= limit) co_return std::nullopt;
    std::vector<std::string> words = claim_words(one, terms, shared_.keys);
    auto reply = co_await client_.call_script_there(shared_.claims, std::move(words), limit - begin);
    if (!reply) {
        shared_.metrics.failures[reply.error().why].add();
        co_return std::nullopt;
    }
    shared_.metrics.claim_duration.observe(clock::now() - begin);
    shared_.metrics.claims.add();
    auto answer = read_claim_answer(**reply, one);
    if (!answer) {
        shared_.metrics.failures[redis_error::kind::protocol].add();
        shared_.store.note({.why = redis_error::kind::protocol, .text = answer.error()});
        co_return std::nullopt;
    }
    co_return std::move(*answer);
}

/// By series, known and taken ones as the store has said.
void claimer::count(const questions& of, const std::vector<std::optional<claim_answer>>& answers) {
    for (std::size_t i = 0; i < answers.size(); ++i) {
        if (!answers[i]) {
            shared_.metrics.unanswered_series.add(of.claims()[i].fingerprints.size());
            continue;
        }
        for (const series_answer& each : answers[i]->series) shared_.metrics.series[each.outcome].add();
    }
}

}  // namespace seriesgate
