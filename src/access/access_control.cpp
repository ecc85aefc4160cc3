#include "access/access_control.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

#include "access/bcrypt.hpp"
#include "log/log.hpp"

namespace seriesgate {
namespace {

constexpr std::chrono::milliseconds rest_without_memory{100};

bool asks_anything(const web_config& of) {
    return of.has_users() || of.ingestion_users || of.admin_users || (of.tls && of.tls->verifies_clients()) ||
           !of.answer_headers.empty();
}

}  // namespace

access_control::access_control(const web_config& from)
    : rules_(std::make_unique<const access_rules>(from, key_, nullptr)), asks_(asks_anything(from)) {}

void access_control::take_over(const web_config& next) {
    const std::scoped_lock one_at_a_time{writing_};
    auto made = [&] {
        const auto before = rules_.read();
        return std::make_unique<const access_rules>(next, key_, &*before);
    }();
    rules_.publish(std::move(made));
    asks_.store(asks_anything(next), std::memory_order_relaxed);
}

access_decision access_control::decide(const access_question& asked, clock::time_point now) {
    access_decision made = rules()->decide(asked);
    if (made.is == access_verdict::unchecked && is_known_bad(made.unchecked->of, now)) {
        made.is = access_verdict::unauthenticated;
        made.unchecked.reset();
    }
    return made;
}

bool access_control::ask(std::string_view peer, password_question question, password_queue::listener asking,
                         clock::time_point now) {
    return queue_.add(peer, std::move(question), std::move(asking), now);
}

bool access_control::is_known_bad(const digest& of, clock::time_point now) {
    const std::scoped_lock lock{guard_};
    return bad_.contains(of, now);
}

std::optional<access_control::clock::duration> access_control::check_next() {
    try {
        const auto order = queue_.take();
        if (!order) return std::nullopt;
        return check_order(*order);
    } catch (const std::exception& error) {  // out of memory: whoever asked comes again
        log::error("password not checked", {{"err", error.what()}});
        return rest_without_memory;
    }
}

access_control::clock::duration access_control::check_order(const password_queue::order& order) {
    const auto began = clock::now();
    password_verdict made = password_verdict::unchecked;
    try {
        if (began <= order.since + wait_max) made = check(order.question);  // else nobody waits any more
    } catch (const std::exception&) {
        order.give(made);
        throw;
    }
    order.give(made);
    return made == password_verdict::wrong
               ? std::min<clock::duration>((clock::now() - began) * rests_after_wrong, rest_max)
               : clock::duration::zero();
}

password_verdict access_control::check(const password_question& asked) {
    if (is_right(asked)) {
        rules()->remember(asked);
        return password_verdict::right;
    }
    const std::scoped_lock lock{guard_};
    bad_.insert(asked.of, clock::now());
    return password_verdict::wrong;
}

// Several peers may have asked for the same.
bool access_control::is_right(const password_question& asked) {
    if (is_known_bad(asked.of, clock::now())) return false;
    if (rules()->knows(asked)) return true;
    return bcrypt_matches(asked.password.reveal(), asked.hash) && !asked.is_of_nobody;
}

}  // namespace seriesgate
