/// What an asynchronous operation comes to.
#pragma once

#include "net/async.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing {

/// Starts an operation with a handler, and runs until that has been called. @return its error
template <class Start>
error_code outcome_of(net::io_context& io, Start start) {
    std::optional<error_code> outcome;
    start([&outcome](error_code error, auto...) { outcome = error; });
    io.restart();
    while (!outcome && io.run_one_for(std::chrono::seconds{10}) != 0) continue;
    REQUIRE(outcome.has_value());
    return *outcome;
}

}  // namespace seriesgate::testing
