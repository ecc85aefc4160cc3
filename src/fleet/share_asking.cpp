#include "fleet/share_asking.hpp"

#include <chrono>
#include <utility>
#include <vector>

#include "claim/rule_terms.hpp"
#include "fleet/share_text.hpp"

namespace seriesgate {

net::awaitable<void> share_asking::keep(redis_client& client, std::shared_ptr<const compiled_rules> rules) {
    if (shared_.settings.left_to_shares() == 0) co_return;
    const std::int64_t hour = hour_number(shared_.now());
    if (!terms_ || hour != terms_->hour || rules != rules_) begin(hour, std::move(rules));
    if (is_answered_) co_return;
    std::vector<std::string> words = share_words(*terms_, name_, shared_.keys);
    const auto reply = co_await client.call_script_there(shared_.share_askings, std::move(words), answer_patience);
    if (!reply) co_return;
    const auto answer = read_share_answer(**reply);
    if (!answer) {
        shared_.store.note({.why = redis_error::kind::protocol, .text = answer.error()});
        co_return;
    }
    is_answered_ = answer->state != share_state::not_now;
    shared_.own_shares.grant(terms_->hour, answer->state);
}

/// Another hour, or other rules, of which no share has been granted.
void share_asking::begin(std::int64_t hour, std::shared_ptr<const compiled_rules> rules) {
    if (rules_ && rules != rules_) shared_.own_shares.withdraw();
    terms_ = with_reserve(terms_of(*rules), shared_.settings.left_to_shares());
    terms_->hour = hour;
    rules_ = std::move(rules);
    is_answered_ = false;
}

}  // namespace seriesgate
