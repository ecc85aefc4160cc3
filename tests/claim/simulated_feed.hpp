/// A simulated gate's feed: fleet/feed.cpp and fleet/download.cpp, call by call.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "claim/simulated_gate.hpp"
#include "fleet/feed_reading.hpp"
#include "limit/learning.hpp"

namespace seriesgate::testing {

/// One question at a time goes out, is executed, and is answered; or a download has come so far. Refers to the gate.
class simulated_feed {
    enum class stage : std::uint8_t { idle, asked, downloads };

    static constexpr std::size_t claims_max = 3;  // few, so that there is often more to read
    static constexpr int pieces = 2;              // of a download, between which others claim

    simulated_gate& gate_;
    mutants wrong_;
    feed_reading reading_;
    stage stage_ = stage::idle;
    time_point sent_{};
    std::optional<feed_answer> coming_{};
    std::shared_ptr<simulated_server> answered_by_{};
    time_point answered_at_{};
    int piece_ = 0;

  public:
    std::uint64_t gaps = 0, downloads = 0, struck = 0;

    simulated_feed(simulated_gate& gate, const mutants& wrong)
        : gate_(gate),
          wrong_(wrong),
          reading_({.progress = gate.feed,
                    .untold = gate.untold,
                    .heard = gate.heard,
                    .gate = gate.number,
                    .answers_within = std::chrono::seconds{1},
                    .claims_max = claims_max}) {}

    [[nodiscard]] bool has_to_do(time_point now) const {
        return gate_.reachable && (stage_ != stage::idle || now - sent_ >= std::chrono::milliseconds{100});
    }
    [[nodiscard]] bool is_idle() const { return stage_ == stage::idle; }

    void go_on(time_point now) {
        switch (stage_) {
            case stage::idle:
                return ask(now);
            case stage::asked:
                return coming_ ? hear(now) : execute(now);
            case stage::downloads:
                return go_on_with_download();
        }
    }

    /// Nothing is heard of it.
    void fail() {
        stage_ = stage::idle;
        coming_.reset();
    }

  private:
    void ask(time_point now) {
        sent_ = now;
        reading_.take_late(simulated_gate::steady(now), *gate_.limiter);
        if (gate_.state != simulated_state::joined) return gate_.feed.lose();
        reading_.begin(simulated_gate::hour_number(gate_.clock(now)));
        stage_ = stage::asked;
    }

    void execute(time_point now) {
        answered_by_ = gate_.server;
        answered_at_ = now;
        coming_ = gate_.server->store.read_feed(reading_.hour(), reading_.read(), claims_max, gate_.server->run_id);
    }

    void hear(time_point now) {
        const feed_answer said = std::move(*coming_);
        fail();
        if (answered_at_ <= answered_by_->lost_at && now > answered_by_->lost_at + std::chrono::milliseconds{500})
            return;  // that connection has been closed
        feed_reading::news came;
        const bool is_taken = reading_.take(said, simulated_gate::steady(sent_), *gate_.limiter, came);
        gaps += came.gaps;
        struck += came.struck;
        if (!is_taken) return;
        if (wrong_.feed_gaps_unnoticed && reading_.read() == said.series) {
            reading_.has_downloaded();
            gate_.feed.note(reading_.hour(), simulated_gate::steady(sent_));
        }
        if (reading_.read() != said.series) return ask(now);
        if (!reading_.wants_download(simulated_gate::steady(now))) return;
        stage_ = stage::downloads;
        piece_ = 0;
    }

    /// Half of the buckets after the other.
    void go_on_with_download() {
        const simulated_server& at = *gate_.server;
        const std::set<std::uint64_t>* const all = at.store.series_of(reading_.hour(), at.run_id);
        if (all == nullptr) return fail();
        std::vector<std::uint64_t> some;
        for (const std::uint64_t each : *all)
            if (each % pieces == static_cast<std::uint64_t>(piece_)) some.push_back(each);
        if (!learn(*gate_.limiter, hour_of(time_point{std::chrono::hours{reading_.hour()}}), some)) return fail();
        if (++piece_ != pieces) return;
        ++downloads;
        reading_.has_downloaded();
        fail();
    }
};

}  // namespace seriesgate::testing
