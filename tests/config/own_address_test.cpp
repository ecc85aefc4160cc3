#include "config/own_address.hpp"

#include <string>
#include <string_view>

#include "config/loading.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

bool is_own(const std::string& listen, const std::string& host_and_port) {
    const auto outcome =
        load_config_text("listen: '" + listen + "'\nupstream:\n  url: http://" + host_and_port + "/w\n", "c.yaml", {});
    for (const config_error& error : outcome.errors)
        if (error.key != "upstream.url") FAIL_CHECK(error.text());
    return !outcome.ok();
}

}  // namespace

TEST_CASE("an upstream that is the gate itself is found") {
    for (const std::string listen :
         {":9201", "0.0.0.0:9201", "[::]:9201", "127.0.0.1:9201", "localhost:9201", "[::1]:9201"})
        for (const std::string host : {"localhost", "LocalHost", "localhost.", "gate.localhost", "127.0.0.1", "[::1]",
                                       "0.0.0.0", "[::]", "[::ffff:127.0.0.1]"}) {
            CAPTURE(listen, host);
            CHECK(is_own(listen, host + ":9201"));
        }
    CHECK(is_own("10.0.0.1:9201", "10.0.0.1:9201"));
    CHECK(is_own("Gate.example:9201", "gate.example:9201"));
    CHECK(is_own(":80", "localhost"));
}

TEST_CASE("an upstream elsewhere is none of ours") {
    CHECK_FALSE(is_own(":9201", "localhost:9202"));
    CHECK_FALSE(is_own(":9201", "10.0.0.1:9201"));
    CHECK_FALSE(is_own(":9201", "store:9201"));
    CHECK_FALSE(is_own(":9201", "mylocalhost:9201"));
    CHECK_FALSE(is_own(":0", "localhost:80"));
    CHECK_FALSE(is_own("10.0.0.1:9201", "localhost:9201"));
    CHECK_FALSE(is_own("10.0.0.1:9201", "10.0.0.2:9201"));
    CHECK_FALSE(is_own("127.0.0.1:9201", "127.0.0.2:9201"));
    CHECK_FALSE(is_own(":9201", "[::ffff:10.0.0.1]:9201"));
    CHECK(load_config_text("listen: :9201\n", "c.yaml", discard).ok());
}

TEST_CASE("that the upstream is the gate is told where one of the two was written") {
    const std::string why = "the gate would send to itself; the store listens elsewhere";
    CHECK(errors_of("listen: :8428\nupstream: {url: 'http://localhost:8428/w'}\n", {}) ==
          lines{"c.yaml:2: upstream.url: is the address of 'listen': " + why});
    CHECK(errors_of("listen: :8428\n", {{"upstream.url", "http://localhost:8428/w"}}) ==
          lines{"--upstream.url: is the address of 'listen': " + why});
    CHECK(errors_of("upstream: {url: 'http://localhost:9201/w'}\n", {}) ==
          lines{"c.yaml:1: upstream.url: is the address of 'listen': " + why});
    CHECK(errors_of("listen: x\nupstream: {url: 'http://localhost:9201/w'}\n", {}).size() == 1);
}
