#include "redis/redis_reply.hpp"

#include "base/metrics.hpp"
#include "redis/redis_shared.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using kind = redis_error::kind;

TEST_CASE("an error reply is known by its first word") {
    const auto why = [](std::string_view line) { return name_of(error_of_reply(line).why); };
    CHECK(why("LOADING Redis is loading the dataset in memory") == "busy");
    CHECK(why("BUSY Redis is busy running a script.") == "busy");
    CHECK(why("TRYAGAIN Multiple keys request during rehashing of slot") == "busy");
    CHECK(why("CLUSTERDOWN Hash slot not served") == "busy");
    CHECK(why("MASTERDOWN Link with MASTER is down") == "busy");
    CHECK(why("NOREPLICAS Not enough good replicas to write.") == "busy");
    CHECK(why("ERR max number of clients reached") == "busy");
    CHECK(why("READONLY You can't write against a read only replica.") == "read_only");
    CHECK(why("OOM command not allowed when used memory > 'maxmemory'.") == "out_of_memory");
    CHECK(why("NOAUTH Authentication required.") == "denied");
    CHECK(why("WRONGPASS invalid username-password pair or user is disabled.") == "denied");
    CHECK(why("NOPERM this user has no permissions to run the 'eval' command") == "denied");
    CHECK(why("DENIED Redis is running in protected mode") == "denied");
    CHECK(why("ERR unknown command") == "other");
    CHECK(why("OOMs") == "other");
    CHECK(why("") == "other");
}

TEST_CASE("a script of Redis 6 that has failed is known by the command's error") {
    const std::string head = "ERR Error running script (call to f_0123): @user_script:1: @user_script: 1: ";
    CHECK(error_of_reply(head + "-OOM command not allowed").why == kind::out_of_memory);
    CHECK(error_of_reply(head + "-READONLY You can't write").why == kind::read_only);
    CHECK(error_of_reply(head + "attempt to index a nil value").why == kind::other);
}

TEST_CASE("an error's text is one line of bounded size") {
    CHECK(error_of_reply("ERR a\tb\x7f\r\nc").text == "ERR a?b???c");
    CHECK(error_of_reply("ERR " + std::string(10000, 'x')).text == "ERR " + std::string(252, 'x'));
    CHECK(error_of_reply("ERR " + std::string(10000, '\xff')).text.size() == 256);
    CHECK(error_of_reply("ERR 1 " + std::string(10000, '\xff')).text.size() == 255);
    CHECK(says(error_of_reply("NOSCRIPT No matching script."), "NOSCRIPT"));
    CHECK_FALSE(says(error_of_reply("NOSCRIPTS"), "NOSCRIPT"));
}

TEST_CASE("what is counted about connections is written family by family") {
    redis_metrics metrics;
    metrics.connections.add(3);
    metrics.connect_failures.add(2);
    metrics.late_replies.add();
    exposition out;
    write(out, metrics);
    CHECK(
        out.take() ==
        "# HELP seriesgate_shared_connections_total Connections to the shared store that were made.\n"
        "# TYPE seriesgate_shared_connections_total counter\n"
        "seriesgate_shared_connections_total 3\n"
        "# HELP seriesgate_shared_connect_failures_total Attempts to connect to the shared store that came to "
        "nothing.\n"
        "# TYPE seriesgate_shared_connect_failures_total counter\n"
        "seriesgate_shared_connect_failures_total 2\n"
        "# HELP seriesgate_shared_late_replies_total Replies of the shared store to commands that had been given up.\n"
        "# TYPE seriesgate_shared_late_replies_total counter\n"
        "seriesgate_shared_late_replies_total 1\n");
}
