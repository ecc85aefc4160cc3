/// The scripts in a real store, with a clock that the test sets.
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "claim/claim.hpp"
#include "fleet/claim_script.hpp"
#include "fleet/claim_text.hpp"
#include "fleet/recover_script.hpp"
#include "fleet/recovery.hpp"
#include "fleet/share_text.hpp"
#include "fleet/shares_script.hpp"
#include "fleet/store_keys.hpp"
#include "fleet/store_process.hpp"
#include "fleet/telling_script.hpp"
#include "fleet/telling_text.hpp"

namespace seriesgate::testing {

/// A server for all cases of this program, which take turns: each begins by emptying it.
inline store_process& the_store() {
    static store_process process;
    return process;
}

class claim_store {
    store_connection connection_{the_store()};
    store_keys keys_{"t"};
    std::string claims_, other_claims_, tellings_, recovers_, shares_;  // digests

  public:
    /// Its counts are whole to those who name no server.
    claim_store() {
        connection_.ask({"FLUSHALL"});
        claims_ = load(claim_script);
        other_claims_ = load(std::string{claim_script} + "\n-- the same in other words");
        tellings_ = load(telling_script);
        recovers_ = load(recover_script);
        shares_ = load(shares_script);
        connection_.ask({"HSET", keys_.head(), "server", ""});
        set_clock(time_point{});  // leaving a list asks for the time, and does not depend on it
    }

    /// The next claims come from a gate of another version, whose script has another digest.
    void change_version() { claims_.swap(other_claims_); }

    void set_clock(time_point now) {
        const auto whole = std::chrono::floor<std::chrono::seconds>(now);
        const auto rest = std::chrono::duration_cast<std::chrono::microseconds>(now - whole);
        connection_.ask({"MSET", "seconds", std::to_string(whole.time_since_epoch().count()), "microseconds",
                         std::to_string(rest.count())});
    }

    recovery_answer recover(const recovery_words& said, const count_offer& offer,
                            std::span<const offered_budget> budgets, const std::string& server, time_point now) {
        set_clock(now);
        std::vector<std::string> words{"EVALSHA", recovers_};
        for (std::string& word : words_of(said, offer, budgets, keys_)) words.push_back(std::move(word));
        words.back() = server;
        const auto reply = connection_.ask(words);
        const auto answer = read_recovery_answer(*reply);
        if (!answer) throw std::runtime_error{answer.error() + ": " + std::string{text_of(*reply)}};
        return *answer;
    }

    claim_answer decide(const claim& asked, const claim_terms& terms, time_point now) {
        set_clock(now);
        send(asked, terms);
        return receive(asked);
    }

    /// Answers come in the order of what has been sent.
    void send(const claim& asked, const claim_terms& terms) {
        std::vector<std::string> words{"EVALSHA", claims_};
        for (std::string& word : claim_words(asked, terms, keys_)) words.push_back(std::move(word));
        connection_.send(words);
    }

    claim_answer receive(const claim& asked) {
        auto answer = read_claim_answer(*connection_.receive(), asked);
        if (!answer) throw std::runtime_error{answer.error()};
        return *std::move(answer);
    }

    telling_state enter(const std::string& gate, const claim_terms& terms, time_point now) {
        set_clock(now);
        return run_telling(enter_words(terms, gate, keys_));
    }
    telling_state leave(const std::string& gate, const claim_terms& terms) {
        return run_telling(leave_words(terms, gate, keys_));
    }

    share_answer share(const std::string& gate, const claim_terms& terms, time_point now) {
        set_clock(now);
        std::vector<std::string> words{"EVALSHA", shares_};
        for (std::string& word : share_words(terms, gate, keys_)) words.push_back(std::move(word));
        const auto reply = connection_.ask(words);
        const auto answer = read_share_answer(*reply);
        if (!answer) throw std::runtime_error{answer.error() + ": " + std::string{text_of(*reply)}};
        return *answer;
    }

    [[nodiscard]] const store_keys& keys() const { return keys_; }
    store_connection& connection() { return connection_; }

    /// All that it has, to go back to.
    using copy = std::map<std::string, std::pair<std::string, std::string>>;  // by key: when it expires, its dump
    copy copied() {
        copy made;
        for (const std::string& key : connection_.texts({"KEYS", "sg:*"}))
            made[key] = {std::to_string(std::max<std::int64_t>(0, connection_.number({"PEXPIRETIME", key}))),
                         connection_.text({"DUMP", key})};
        return made;
    }
    void go_back_to(const copy& then) {
        connection_.ask({"FLUSHALL"});
        for (const auto& [key, value] : then) connection_.ask({"RESTORE", key, value.first, value.second, "ABSTTL"});
    }

    /// The keys of a window's buckets that something is in.
    std::vector<std::string> buckets(const std::string& record) {
        return connection_.texts({"KEYS", record + ":[0-9]*"});
    }

    /// What is in a window's sets, whichever of its buckets it is in.
    std::set<std::uint64_t> series(const std::string& record, std::uint32_t count) {
        std::set<std::uint64_t> all;
        for (const std::string& bucket : buckets(record))
            for (const std::string& member : connection_.texts({"SMEMBERS", bucket})) {
                const auto fingerprint = static_cast<std::uint64_t>(std::stoll(member));
                if (bucket_key(record, fingerprint, count) != bucket || !all.insert(fingerprint).second)
                    throw std::runtime_error{"a fingerprint in a bucket that is not its own"};
            }
        return all;
    }

    std::map<std::string, std::string> fields(const std::string& key) {
        const auto list = connection_.texts({"HGETALL", key});
        std::map<std::string, std::string> fields;
        for (std::size_t i = 0; i + 1 < list.size(); i += 2) fields[list[i]] = list[i + 1];
        return fields;
    }

  private:
    std::string load(std::string_view text) {
        std::string script{text};
        const std::string_view time = "redis.call('TIME')";
        const std::size_t at = script.find(time);
        if (at == script.npos || script.find(time, at + 1) != script.npos)
            throw std::runtime_error{"no clock to replace"};
        script.replace(at, time.size(), "redis.call('MGET', 'seconds', 'microseconds')");
        return connection_.text({"SCRIPT", "LOAD", script});
    }

    telling_state run_telling(std::vector<std::string> asked) {
        std::vector<std::string> words{"EVALSHA", tellings_};
        for (std::string& word : asked) words.push_back(std::move(word));
        const auto answer = read_telling_answer(*connection_.ask(words));
        if (!answer) throw std::runtime_error{answer.error()};
        return answer->state;
    }
};

}  // namespace seriesgate::testing
