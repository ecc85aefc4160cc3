#include "net/background.hpp"

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <boost/asio/post.hpp>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "support/catch.hpp"

using namespace seriesgate;

namespace {

/// What is logged while it lives.
class captured_log {
    std::ostringstream text_;
    std::shared_ptr<spdlog::logger> usual_ = spdlog::default_logger();

  public:
    captured_log() {
        auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(text_);
        sink->set_pattern("%v");
        spdlog::set_default_logger(std::make_shared<spdlog::logger>("captured", std::move(sink)));
    }
    captured_log(const captured_log&) = delete;
    captured_log& operator=(const captured_log&) = delete;
    ~captured_log() { spdlog::set_default_logger(usual_); }

    [[nodiscard]] std::string text() const { return text_.str(); }
};

net::awaitable<void> fail(bool with_words) {
    if (with_words) throw std::runtime_error("out of everything");
    throw 42;
    co_return;
}

net::awaitable<void> count(int& calls, bool first_fails) {
    if (++calls == 1 && first_fails) throw std::runtime_error("once");
    co_return;
}

}  // namespace

TEST_CASE("an exception in a coroutine that nobody waits for is logged and ends nothing else") {
    const captured_log log;
    net::io_context io{1};
    int others = 0;
    spawn(io.get_executor(), fail(true), "a thing failed");
    spawn(io.get_executor(), fail(false), "another thing failed");
    spawn(io.get_executor(), count(others, false), "a third thing failed");
    run_handlers(io);
    CHECK(others == 1);
    CHECK(log.text() == "a thing failed: out of everything\nanother thing failed\n");
}

TEST_CASE("what has to last is begun again after an exception, and ends when it returns") {
    const captured_log log;
    net::io_context io{1};
    int calls = 0;
    spawn_lasting(
        io.get_executor(), [&calls] { return count(calls, true); }, "a thing failed");
    run_handlers(io);
    CHECK(calls == 2);
    CHECK(log.text() == "a thing failed: once\n");
}

TEST_CASE("a handler that throws does not end its thread") {
    const captured_log log;
    net::io_context io{1};
    int others = 0;
    net::post(io, [] { throw std::runtime_error("out of everything"); });
    net::post(io, [] { throw 42; });
    net::post(io, [&others] { ++others; });
    run_handlers(io);
    CHECK(others == 1);
    CHECK(log.text() == "a handler failed: out of everything\na handler failed\n");
}
