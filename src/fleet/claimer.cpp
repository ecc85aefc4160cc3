#include "fleet/claimer.hpp"

#include <string>
#include <utility>

#include "fleet/claim_text.hpp"

namespace seriesgate {
namespace {

/// Claims of one worker under way: enough to keep the store busy while their answers are on the way.
constexpr std::size_t at_once = 4;
/// Requests of one worker that wait to ask.
constexpr std::size_t waiting_max = 1024;
/// A store that moves its sets again and again is no store.
constexpr int moves_max = 3;

}  // namespace

claimer::claimer(net::io_context& io, fleet_shared& shared)
    : shared_(shared), client_(io, shared.settings.store, shared.store), turns_(io, at_once, waiting_max) {}

told_outcome claimer::without_answer() const noexcept {
    const bool admits = shared_.settings.on_unavailable == unavailable_answer::admit;
    return admits ? told_outcome::let_pass : told_outcome::withheld;
}

void claimer::maintain() {
    client_.maintain();
}

net::awaitable<std::optional<told>> claimer::ask(questions& of, std::string_view tenant) {
    std::vector<std::optional<claim_answer>> answers(of.claims().size());
    const auto limit = clock::now() + shared_.settings.store.timeout;
    for (std::size_t i = 0; i < answers.size() && shared_.state() == fleet_state::joined; ++i) {
        const end came_of_it = co_await ask_one(of.claims()[i], of.terms(), tenant, limit, answers[i]);
        if (came_of_it == end::closed) co_return std::nullopt;
        if (came_of_it == end::unanswered) break;  // nor would the others be
    }
    count(of, answers);
    shared_.metrics.unasked_series.add(of.unasked_count());
    co_return of.tell(answers, without_answer());
}

net::awaitable<claimer::end> claimer::ask_patiently(const questions& of, std::string_view tenant,
                                                    std::vector<std::optional<claim_answer>>& answers) {
    claim_terms terms = of.terms();
    terms.accepted = true;
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
    const turns::turn mine = co_await turns_.take(tenant, limit);
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
