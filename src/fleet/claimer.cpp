#include "fleet/claimer.hpp"

#include <string>
#include <utility>

#include "fleet/store_text.hpp"

namespace seriesgate {
namespace {

/// Calls of one worker under way: enough to keep the store busy while their answers are on the way.
constexpr std::size_t calls_at_once = 4;
/// Requests of one worker that wait to ask.
constexpr std::size_t waiting_max = 1024;
/// A store that moves its sets again and again is no store.
constexpr int moves_max = 3;

}  // namespace

claimer::claimer(net::io_context& io, fleet_shared& shared)
    : shared_(shared), client_(io, shared.settings.store, shared.store), turns_(io, calls_at_once, waiting_max) {}

net::awaitable<std::optional<fleet_decision>> claimer::ask(store_questions& of, std::string_view tenant) {
    std::vector<std::optional<store_answer>> answers;
    const auto limit = clock::now() + shared_.settings.store.timeout;
    const std::int64_t hour = hour_number(of.hour().start);
    end came_of_it = end::decided;
    do {
        std::size_t i = answers.size();
        answers.resize(of.calls().size());
        for (; i < answers.size() && came_of_it == end::decided && shared_.view.may_ask(hour); ++i) {
            came_of_it = co_await ask_one(of, of.calls()[i], tenant, limit, answers[i]);
            if (came_of_it == end::closed) co_return std::nullopt;
        }
    } while (of.ask_rest(answers));
    count(of, answers);
    co_return decide(of, std::move(answers));
}

fleet_decision claimer::decide(store_questions& of, std::vector<std::optional<store_answer>> answers) {
    do answers.resize(of.calls().size());
    while (of.ask_rest(answers));
    const std::int64_t hour = hour_number(of.hour().start);
    return of.decide(answers,
                     [&](std::span<const shared_budget* const> budgets) { return without_answer(budgets, hour); });
}

/// What becomes of a series.
decision_outcome claimer::without_answer(std::span<const shared_budget* const> budgets, std::int64_t hour) {
    shared_.metrics.unanswered_series.add();
    const unavailable_answer otherwise = shared_.settings.on_unavailable;
    if (otherwise == unavailable_answer::admit) return decision_outcome::passes;
    if (otherwise == unavailable_answer::refuse || !shared_.view.admits_alone(budgets, hour))
        return decision_outcome::withheld;
    shared_.metrics.alone_series.add();
    return decision_outcome::passes;
}

net::awaitable<claimer::end> claimer::ask_one(const store_questions& of, const store_call& one, std::string_view tenant,
                                              clock::time_point limit, std::optional<store_answer>& answer) {
    shared_.metrics.waiting.add();
    const fair_queue::turn mine = co_await turns_.take(tenant, limit);
    shared_.metrics.waiting.sub();
    if (!mine) {
        shared_.metrics.no_turn.add();
        co_return end::unanswered;
    }
    for (int moves = 0; moves <= moves_max; ++moves) {
        const auto begin = clock::now();
        if (begin >= limit) co_return end::unanswered;
        std::vector<std::string> words = call_words(one, shared_.terms_of(of), shared_.keys);
        auto reply = co_await client_.call_script(shared_.calls, std::move(words), limit - begin);
        if (!reply) {
            shared_.metrics.failures[reply.error().why].add();
            co_return end::unanswered;
        }
        shared_.metrics.claim_duration.observe(clock::now() - begin);
        shared_.metrics.claims.add();
        auto said = read_answer(**reply, one);
        if (!said) {
            shared_.metrics.failures[redis_error::kind::protocol].add();
            shared_.store.note({.why = redis_error::kind::protocol, .text = said.error()});
            co_return end::unanswered;
        }
        shared_.hear(said->windows);
        switch (said->status) {
            case store_status::decided:
                shared_.view.hear(one, *said);
                answer = std::move(*said);
                co_return end::decided;
            case store_status::closed:
                shared_.metrics.closed.add();
                co_return end::closed;
            case store_status::moved:
                break;
            case store_status::other_epoch:
                shared_.metrics.other_epoch.add();
                co_return end::unanswered;
        }
    }
    co_return end::unanswered;
}

void claimer::count(const store_questions& of, std::span<const std::optional<store_answer>> answers) {
    shared_.metrics.unasked_series.add(of.unasked_count());
    for (const std::optional<store_answer>& each : answers)
        if (each)
            for (const series_decision& one : each->series) shared_.metrics.series[one.outcome].add();
}

}  // namespace seriesgate
