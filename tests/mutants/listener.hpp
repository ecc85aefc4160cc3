/// Writes a line at the begin and at the end of each test case into the file that SERIESGATE_MUTANTS_LOG names. It is
/// appended to tests/support/main.cpp of the tree with the faults.
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>
using mutants_listener_base = Catch::EventListenerBase;
#else
using mutants_listener_base = Catch::TestEventListenerBase;
#endif

namespace injected {

/// @return the numbers of the faults that were reached since the last call, each with a comma behind it.
std::string take_reached();

class listener : public mutants_listener_base {
    int file_ = -1;
    std::chrono::steady_clock::time_point begin_;
    std::string before_ = take_reached();  // by the constructors of global variables: reached by each test case

    void say(const std::string& line) const {
        if (file_ >= 0 && write(file_, line.data(), line.size()) < 0) std::abort();
    }

  public:
    using mutants_listener_base::mutants_listener_base;

    void testCaseStarting(const Catch::TestCaseInfo& info) override {
        if (const char* path = std::getenv("SERIESGATE_MUTANTS_LOG"); path != nullptr && file_ < 0)
            file_ = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
        take_reached();
        begin_ = std::chrono::steady_clock::now();
        say("begin\t" + std::string{info.name} + "\n");
    }

    void testCaseEnded(const Catch::TestCaseStats& stats) override {
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin_;
        say("end\t" + std::to_string(took.count()) + "\t" + std::to_string(stats.totals.assertions.failed) + "\t" +
            before_ + take_reached() + "\n");
    }
};

CATCH_REGISTER_LISTENER(listener)

}  // namespace injected
