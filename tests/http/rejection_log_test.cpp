#include "http/route_table.hpp"

#include "support/catch.hpp"

using namespace seriesgate;

TEST_CASE("of requests that were taken but for some of what they held, ingestion tells") {
    CHECK(is_logged_by_ingestion(reject_reason::refused));
    CHECK(is_logged_by_ingestion(reject_reason::untranslated));
    CHECK(is_logged_by_ingestion(reject_reason::left_out));
    CHECK_FALSE(is_logged_by_ingestion(reject_reason::malformed));
}

namespace {

std::string line_of(const reply& answer, std::uint64_t requests, std::string_view peer, std::string_view tenant,
                    std::string_view user = {}) {
    const auto fields = describe_rejection(answer, requests, peer, user, tenant);
    const std::string line = log::line_of(log::format::logfmt, log::level::warn, {}, "requests rejected", fields);
    return line.substr(line.find("requests="));
}

}  // namespace

TEST_CASE("the line says how many, why, who and what was answered") {
    const reply large = rejection(reject_reason::too_large, 400, "body larger than server.maxRequestBytes");
    CHECK(line_of(large, 1, "192.0.2.7", "") ==
          "requests=1 reason=too_large sender=192.0.2.7 user=\"\" tenant=\"\" status=400 "
          "err=\"body larger than server.maxRequestBytes\"");
    CHECK(line_of(large, 7, "2001:db8::1", "shop\n\"a\"") ==
          "requests=7 reason=too_large sender=2001:db8::1 user=\"\" tenant=\"shop\\n\\\"a\\\"\" status=400 "
          "err=\"body larger than server.maxRequestBytes\"");
    const reply lines = rejection(reject_reason::malformed, 400, "first\nsecond");
    CHECK(line_of(lines, 1, "", "") ==
          "requests=1 reason=malformed sender=\"\" user=\"\" tenant=\"\" status=400 err=first");
}

TEST_CASE("a long tenant name is cut in the log") {
    const reply some = rejection(reject_reason::malformed, 400, "x");
    CHECK(line_of(some, 1, "192.0.2.7", std::string(5000, 'a')) ==
          "requests=1 reason=malformed sender=192.0.2.7 user=\"\" tenant=" + std::string(100, 'a') +
              " status=400 err=x");
}

TEST_CASE("the line says who it is or claims to be") {
    const reply denied = rejection(reject_reason::forbidden, 403, "no");
    CHECK(line_of(denied, 1, "192.0.2.7", "", std::string(300, 'u')) ==
          "requests=1 reason=forbidden sender=192.0.2.7 user=" + std::string(100, 'u') +
              " tenant=\"\" status=403 err=no");
}
