#include "fleet/enrolment.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "claim/rule_terms.hpp"
#include "fleet/telling_text.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

/// Until the hour is open the store is asked the more often the younger that is.
constexpr auto asked_again_min = 10ms;
constexpr auto asked_again_max = 1s;
constexpr int asked_again_part = 10;
/// While others wait for what is untold.
constexpr auto awaited_interval = 50ms;

}  // namespace

enrolment::enrolment(fleet_shared& shared, std::string name) : shared_(shared), name_(std::move(name)) {}

void enrolment::begin_by(std::shared_ptr<const compiled_rules> rules) {
    shared_.heard.count_by(terms_of(*rules));
    rules_ = std::move(rules);
}

net::awaitable<void> enrolment::keep(redis_client& client, std::shared_ptr<const compiled_rules> rules) {
    const time_point now = shared_.now();
    const std::int64_t hour = hour_number(now);
    if (!terms_ || hour != terms_->hour || rules != rules_) begin(hour, std::move(rules));
    if (may_enter(now)) {
        if (is_answered_) co_return;
        may_be_listed_ = true;  // whether or not this is answered
        const auto state = co_await ask(client, true);
        if (!state || *state == telling_state::not_open) co_return;
        is_answered_ = true;
        if (*state == telling_state::listed && !leaves_ && hour == hour_number(shared_.now())) {
            shared_.untold.accept(hour_of(now), rules_);
            shared_.keeps_places = true;
        }
    } else if (may_be_listed_) {
        co_await leave(client);
    }
}

net::awaitable<bool> enrolment::leave(redis_client& client) {
    leaves_ = true;
    shared_.untold.stop();
    if (!may_be_listed_) co_return true;
    if (shared_.untold.size() != 0) co_return false;
    const auto state = co_await ask(client, false);
    if (!state) co_return false;
    may_be_listed_ = false;
    is_awaited_ = false;
    shared_.keeps_places = false;
    co_return true;
}

untold_series_of enrolment::interrupt() {
    shared_.untold.stop();
    shared_.keeps_places = false;
    if (!terms_) return {};
    // What the store has of the list may be older than what this gate has heard of it.
    leaves_ = may_be_listed_ = true;
    is_awaited_ = shared_.untold.size() != 0;
    if (!is_awaited_) return {};
    return {.name = name_, .hour = terms_->hour};
}

/// Another hour, or other rules.
void enrolment::begin(std::int64_t hour, std::shared_ptr<const compiled_rules> rules) {
    shared_.untold.stop();
    if (!terms_ || terms_->hour != hour) {
        may_be_listed_ = false;
        leaves_ = false;
        is_awaited_ = false;
        shared_.keeps_places = false;
    }
    // Before the store was heard the first time, the gate's own clock may have been in the next hour.
    if (rules_ && rules != rules_) changed_in_ = terms_ ? hour : hour + 1;
    terms_ = with_reserve(terms_of(*rules), shared_.settings.left_to_shares());
    terms_->hour = hour;
    shared_.heard.count_by(*terms_);
    rules_ = std::move(rules);
    is_answered_ = false;
}

/// Not after a change of rules until this gate has had them for an hour: what it had before may have been limited by
/// nothing, and then the store knows nothing of it.
bool enrolment::may_enter(time_point now) const {
    const bool in_grace =
        now < std::chrono::sys_seconds{std::chrono::hours{terms_->hour}} + std::chrono::seconds{terms_->grace};
    return in_grace && !leaves_ && (!changed_in_ || terms_->hour > *changed_in_ + 1);
}

net::awaitable<std::optional<telling_state>> enrolment::ask(redis_client& client, bool enters) {
    std::vector<std::string> words =
        enters ? enter_words(*terms_, name_, shared_.keys) : leave_words(*terms_, name_, shared_.keys);
    const auto reply = co_await client.call_script_there(shared_.tellings, std::move(words), answer_patience);
    if (!reply) co_return std::nullopt;
    const auto answer = read_telling_answer(**reply);
    if (!answer) {
        shared_.store.note({.why = redis_error::kind::protocol, .text = answer.error()});
        co_return std::nullopt;
    }
    co_return answer->state;
}

std::optional<enrolment::clock::duration> enrolment::until_next() const {
    if (is_awaited_) return awaited_interval;
    const time_point now = shared_.now();
    if (!terms_ || (terms_->hour == hour_number(now) && (is_answered_ || !may_enter(now)))) return std::nullopt;
    const auto age = std::chrono::duration_cast<clock::duration>(now - hour_of(now).start) / asked_again_part;
    return std::clamp<clock::duration>(age, asked_again_min, asked_again_max);
}

}  // namespace seriesgate
