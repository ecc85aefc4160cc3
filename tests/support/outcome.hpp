/// What an asynchronous operation comes to.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <exception>
#include <optional>
#include <utility>

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

/// Runs a coroutine to its end. @return what it returns
template <class Result>
Result result_of(net::io_context& io, net::awaitable<Result> work) {
    std::optional<Result> got;
    net::co_spawn(io, std::move(work), [&got](const std::exception_ptr& failure, Result made) {
        if (failure) std::rethrow_exception(failure);
        got.emplace(std::move(made));
    });
    io.restart();
    while (!got && io.run_one_for(std::chrono::seconds{10}) != 0) continue;
    REQUIRE(got.has_value());
    return std::move(*got);
}

}  // namespace seriesgate::testing
