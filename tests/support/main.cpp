// The one translation unit that holds Catch2's main in version 2; version 3 brings it as a library.
#if !__has_include(<catch2/catch_all.hpp>)
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <thread>

namespace {

/// Nothing that is tested may depend on the machine's time zone. Nepal's has minutes, too.
[[maybe_unused]] const bool is_in_nepal = [] {
    ::setenv("TZ", "NPT-5:45", 1);
    ::tzset();
    return true;
}();

/// Catch2 counts assertions without a lock. One that another thread makes ends the program here, each time, where it
/// would else be a data race that ThreadSanitizer sees now and then.
class assertions_of_one_thread : public Catch::TestEventListenerBase {
    const std::thread::id main_ = std::this_thread::get_id();

  public:
    using TestEventListenerBase::TestEventListenerBase;

    void assertionStarting(const Catch::AssertionInfo& info) override {
        if (std::this_thread::get_id() == main_) return;
        std::fprintf(stderr, "%s:%zu: an assertion outside the test's own thread\n", info.lineInfo.file,
                     info.lineInfo.line);
        std::abort();
    }
};

CATCH_REGISTER_LISTENER(assertions_of_one_thread)

}  // namespace
#endif
