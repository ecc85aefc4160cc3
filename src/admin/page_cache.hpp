/// What /, /stats, /metrics and the API answer.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "admin/api_question.hpp"
#include "admin/budget_choice.hpp"
#include "net/async.hpp"

namespace seriesgate {

// --- Work that requests ask for and that none of them does.

/// Requests ask, and one event loop that none of them can hold up does the work, in the order of asking. Whoever asks
/// for what is asked for already, and not begun, shares what comes of it: it is as new as every one of their questions.
/// Threads: ask() any; take() the one that works, whose event loop outlives this.
template <class Key, class Outcome>
class single_flight_queue {
    using giver = typename awaited<Outcome>::giver;

  public:
    struct job {
        Key key;
        std::vector<giver> asking;

        void give(const Outcome& outcome) const {
            for (const giver& each : asking) each(outcome);
        }
    };

    /// Different things that may be asked for at a time.
    static constexpr std::size_t jobs_max = 16;

    /// Asks and waits.
    /// @param ahead_max how many other things may be ahead of it.
    /// @return nothing if there are more, or if it takes longer than `limit`.
    net::awaitable<std::optional<Outcome>> ask(Key key, net::io_context& io, std::chrono::steady_clock::duration limit,
                                               std::size_t ahead_max = jobs_max - 1) {
        awaited<Outcome> outcome{io};
        if (!add(key, outcome.to_give(), ahead_max)) co_return std::nullopt;
        co_return co_await outcome.wait(limit);
    }

    /// Asks for what nobody waits for.
    void ask(const Key& key) { add(key, std::nullopt, jobs_max - 1); }

    /// Waits for what is asked for. One coroutine at a time.
    net::awaitable<job> take() {
        const auto asked = std::make_shared<async_event>(co_await net::this_coro::executor);
        for (;;) {
            auto first = first_or_wake(asked);
            if (first) co_return std::move(*first);
            co_await asked->wait();
        }
    }

  private:
    /// @return nothing if nothing is asked for; then `asked` is notified of what comes.
    std::optional<job> first_or_wake(const std::shared_ptr<async_event>& asked) {
        const std::scoped_lock lock{guard_};
        if (jobs_.empty()) {
            waits_ = asked;
            return std::nullopt;
        }
        std::optional<job> first{std::move(jobs_.front())};
        jobs_.pop_front();
        return first;
    }

    bool add(const Key& key, std::optional<giver> asking, std::size_t ahead_max) {
        const std::scoped_lock lock{guard_};
        auto found = std::ranges::find(jobs_, key, &job::key);
        if (found == jobs_.end()) {
            if (jobs_.size() > ahead_max) return false;
            found = jobs_.insert(jobs_.end(), job{key, {}});
            if (const auto waits = waits_.lock()) waits->notify();
        }
        if (asking) found->asking.push_back(std::move(*asking));
        return true;
    }

    std::mutex guard_;
    std::weak_ptr<async_event> waits_;  // the one that works; its event goes with its event loop
    std::deque<job> jobs_;
};

enum class page_kind : std::uint8_t { metrics, stats, status, api };

/// Two requests with the same key get the same text.
struct page_key {
    page_kind kind = page_kind::metrics;
    budget_choice shown{};  ///< on /stats
    api_question asked{};   ///< of the API

    /// One of any number that there may be.
    [[nodiscard]] bool is_part() const { return kind == page_kind::api || shown != budget_choice{}; }
    bool operator==(const page_key&) const = default;
};

/// One text for all who asked for it together. Null: none can be made now.
using page_text = std::shared_ptr<const std::string>;

/// Where pages are asked for.
using page_queue = single_flight_queue<page_key, page_text>;

/// The texts of one sort that someone is still reading: bounds what slow readers hold.
///
/// While they hold less than held_bytes_max, everyone gets a text of the moment. From there on newcomers share the
/// newest one with their key for as long as it is no older than age_max, and then get none. So the texts take at most
/// held_bytes_max and one more.
///
/// Threads: one; texts are let go by any.
class page_cache {
    using time_point = std::chrono::steady_clock::time_point;
    struct entry {
        page_key key;
        std::weak_ptr<const std::string> text;
        std::size_t bytes;
        time_point made;
    };
    std::vector<entry> entries_;  // oldest first

  public:
    static constexpr std::size_t held_bytes_max = 32u << 20;
    /// The time that a session grants for reading an answer: what was held when this text was made has been let go.
    static constexpr auto age_max = std::chrono::seconds{30};

    /// Whether another text may be made.
    [[nodiscard]] bool has_room();
    /// The newest text with this key that is young enough and still held; null if there is none.
    [[nodiscard]] page_text newest(const page_key& key, time_point now) const;
    void put(const page_key& key, const page_text& text, time_point now);
};

}  // namespace seriesgate
