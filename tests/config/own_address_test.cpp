#include "config/endpoint.hpp"

#include "config/loading.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

load_outcome load_of(const std::string& listen, const std::string& host_and_port) {
    return load_config_text("listen: '" + listen + "'\nupstream:\n  url: http://" + host_and_port + "/w\n", "c.yaml",
                            {});
}

bool is_own(const std::string& listen, const std::string& host_and_port) {
    const auto outcome = load_of(listen, host_and_port);
    for (const config_error& error : outcome.errors)
        if (error.key != "upstream.url") FAIL_CHECK(error.text());
    return !outcome.ok();
}

bool is_doubted(const std::string& listen, const std::string& host_and_port) {
    return !load_of(listen, host_and_port).warnings.empty();
}

}  // namespace

TEST_CASE("an upstream that is the gate itself is found") {
    const lines any_family{"localhost", "LocalHost", "localhost.", "gate.localhost"};
    const lines v4{"127.0.0.1", "0.0.0.0"};
    const lines v6{"[::1]", "[::]"};
    const auto check = [](const std::string& listen, const lines& hosts, bool is_error) {
        for (const std::string& host : hosts) {
            CAPTURE(listen, host);
            CHECK(is_own(listen, host + ":9201") == is_error);
            CHECK(is_doubted(listen, host + ":9201") == !is_error);
        }
    };
    for (const std::string listen : {"[::]:9201", "localhost:9201"})
        for (const lines& hosts : {any_family, v4, v6}) check(listen, hosts, true);
    for (const std::string listen : {":9201", "0.0.0.0:9201", "127.0.0.1:9201"}) {
        for (const lines& hosts : {any_family, v4}) check(listen, hosts, true);
        check(listen, v6, false);
    }
    for (const lines& hosts : {any_family, v6}) check("[::1]:9201", hosts, true);
    check("[::1]:9201", v4, false);
    check("127.0.0.2:9201", any_family, false);
    check("127.0.0.2:9201", {"127.0.0.2"}, true);
    check("0.0.0.0:9201", {"127.0.0.2"}, true);
    CHECK(is_own("10.0.0.1:9201", "10.0.0.1:9201"));
    CHECK(is_own("Gate.example:9201", "gate.example:9201"));
    CHECK(is_own(":80", "localhost"));
}

TEST_CASE("another address of this machine with the same port is doubted") {
    const auto outcome =
        load_config_text("listen: 127.0.0.1:8428\nupstream:\n  url: http://[::1]:8428/w\n", "c.yaml", {});
    CHECK(outcome.ok());
    CHECK(texts_of(outcome.warnings) == lines{"c.yaml:3: warning: upstream.url: is another address of this machine "
                                              "with the port of 'listen': if no store "
                                              "listens there, it is wrong"});
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
    CHECK_FALSE(is_doubted("127.0.0.1:9201", "127.0.0.2:9201"));
    CHECK_FALSE(is_doubted("10.0.0.1:9201", "localhost:9201"));
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

TEST_CASE("an upstream that is the gate's address for people is found, too") {
    const std::string store = "upstream: {url: 'http://localhost:9202/w'}\n";
    CHECK(errors_of("admin: {listen: ':9202'}\n" + store, {}) ==
          lines{"c.yaml:2: upstream.url: is the address of 'admin.listen': the gate would send to itself; the store "
                "listens elsewhere"});
    CHECK(errors_of("admin: {listen: 'unix:/9202'}\n" + store, {}).empty());
    CHECK(errors_of("admin: {listen: x}\n" + store, {}).size() == 1);
}

TEST_CASE("two listeners have two addresses") {
    const overrides store{{"upstream.url", "discard:"}};
    CHECK(
        errors_of("listen: localhost:1\nadmin: {listen: 'localhost:1'}\n", store) ==
        lines{"c.yaml:2: admin.listen: 'listen' and 'admin.listen' have one address: leave 'admin.listen' out to have "
              "all there"});
    CHECK(errors_of("listen: unix:/a\nadmin: {listen: unix:/a}\n", store).size() == 1);
    CHECK(errors_of("admin: {listen: '0.0.0.0:9201'}\n", store).size() == 1);
    CHECK(errors_of("listen: :0\nadmin: {listen: ':0'}\n", store).empty());
    CHECK(errors_of("listen: unix:/a\nadmin: {listen: unix:/b}\n", store).empty());
    CHECK(errors_of("listen: x\nadmin: {listen: '0.0.0.0:9201'}\n", store).size() == 1);
}
