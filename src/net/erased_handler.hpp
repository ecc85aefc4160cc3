/// A handler of any type behind one pointer, so that what is given it can be compiled apart. Asio has one from 1.82 on.
#pragma once

#include <boost/asio/append.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <cstddef>
#include <memory>
#include <utility>

#include "net/asio.hpp"

namespace seriesgate {

/// Takes the outcome of a read or a write, or that of an operation without a count, whose handler takes none. Called
/// once, or never. Copies are the same handler: who starts what may throw keeps one. Threads: the handler's executor.
class erased_handler {
    struct held {
        virtual ~held() = default;
        virtual void complete(error_code error, std::size_t bytes) = 0;
    };

    // What takes any arguments, as as_tuple does, cannot be asked which it takes.
    template <class Handler, bool has_count>
    struct held_as final : held {
        Handler handler;
        net::any_io_executor otherwise;

        held_as(Handler given, net::any_io_executor executor)
            : handler(std::move(given)), otherwise(std::move(executor)) {}
        void complete(error_code error, std::size_t bytes) override {
            const auto where = net::get_associated_executor(handler, otherwise);
            if constexpr (has_count)
                net::dispatch(where, net::append(std::move(handler), error, bytes));
            else
                net::dispatch(where, net::append(std::move(handler), error));
        }
    };

    std::shared_ptr<held> held_;

  public:
    /// @param executor for a handler that has none of its own.
    template <class Handler>
    erased_handler(Handler handler, net::any_io_executor executor)
        : held_(std::make_shared<held_as<Handler, true>>(std::move(handler), std::move(executor))) {}

    struct no_count {};
    template <class Handler>
    erased_handler(Handler handler, net::any_io_executor executor, no_count)
        : held_(std::make_shared<held_as<Handler, false>>(std::move(handler), std::move(executor))) {}

    void operator()(error_code error, std::size_t bytes) {
        const std::shared_ptr<held> called = std::move(held_);
        called->complete(error, bytes);
    }
};

}  // namespace seriesgate
