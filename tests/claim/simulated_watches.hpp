/// Those that watch a simulated fleet's servers, and what comes through its gates.
#pragma once

#include <map>
#include <string>

#include "claim/share_watch.hpp"
#include "claim/simulated_servers.hpp"
#include "claim/store_watch.hpp"
#include "claim/upstream_watch.hpp"

namespace seriesgate::testing {

/// Refers to the world.
struct simulated_watches {
    const simulated_world& world;
    upstream_watch upstream;
    share_watch shares;
    std::map<std::string, store_watch> stores{};  ///< by run_id
    happenings seen{};

    explicit simulated_watches(const simulated_world& what) : world(what), upstream(what), shares(what) {}

    store_watch& of(const simulated_server& server) { return stores.try_emplace(server.run_id, world).first->second; }
};

}  // namespace seriesgate::testing
