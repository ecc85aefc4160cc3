/// The servers that a simulated fleet's store runs on, and what becomes of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "claim/simulated_store.hpp"

namespace seriesgate::testing {

struct simulated_server {
    std::string run_id;
    simulated_store store;
    time_point lost_at = time_point::min();  ///< when it has lost something, or was gone
};

/// One, but for a while two. Gates have a connection to one of them each.
class simulated_servers {
    using server_ptr = std::shared_ptr<simulated_server>;

    static constexpr std::size_t copies_max = 30;

    mutants wrong_;
    feed_flaws flaws_;
    std::vector<server_ptr> all_{};
    std::deque<simulated_store> copies_{};  // of the first, before each of its last writes
    int started_ = 0;

  public:
    simulated_servers(const mutants& wrong, const feed_flaws& flaws) : wrong_(wrong), flaws_(flaws) {
        all_.push_back(start(emptied()));
    }

    bool may_be_lost = true;  ///< else nothing is kept to go back to

    [[nodiscard]] const std::vector<server_ptr>& all() const { return all_; }
    [[nodiscard]] bool is_split() const { return all_.size() > 1; }

    /// Before anything is written to the server.
    void remember(const simulated_server& server) {
        if (&server != all_.front().get() || !may_be_lost) return;
        copies_.push_back(server.store);
        if (copies_.size() > copies_max) copies_.pop_front();
    }

    /// FLUSHALL: it is the same server.
    void flush(time_point now) {
        all_.front()->store = emptied();
        all_.front()->lost_at = now;
        copies_.clear();
    }

    /// Another server in its place: one without data, or with the data of so many writes ago. Without the last 0 writes
    /// it has lost nothing.
    void replace_by_empty(time_point now) { replace(emptied(), now); }
    void replace_by_copy(std::size_t writes, time_point now) { replace(copy_of(writes), now); }

    /// A replica takes itself for the master.
    void split(std::size_t writes) {
        simulated_store copy = copy_of(writes);
        all_.push_back(start(std::move(copy)));
    }
    /// One of the two has gone. @param first whether the first is left.
    void end_split(bool first, time_point now) {
        const auto gone = first ? all_.begin() + 1 : all_.begin();
        (*gone)->lost_at = now;
        all_.erase(gone);
        copies_.clear();
    }

  private:
    [[nodiscard]] simulated_store emptied() const { return {wrong_, flaws_}; }

    server_ptr start(simulated_store store) {
        return std::make_shared<simulated_server>(
            simulated_server{.run_id = "server-" + std::to_string(++started_), .store = std::move(store)});
    }

    void replace(simulated_store by, time_point now) {
        all_.front()->lost_at = now;
        all_.front() = start(std::move(by));
        copies_.clear();
    }

    [[nodiscard]] simulated_store copy_of(std::size_t writes) const {
        if (writes == 0 || copies_.empty()) return all_.front()->store;
        return copies_[copies_.size() - std::min(writes, copies_.size())];
    }
};

}  // namespace seriesgate::testing
