#include "http/http_metrics.hpp"

#include "support/catch.hpp"

using namespace seriesgate;

namespace {

template <class Key>
std::string all_names() {
    std::string all;
    for (std::size_t i = 0; i < counter_by<Key>::size; ++i) all.append(name_of(static_cast<Key>(i))).append(" ");
    return all;
}

}  // namespace

TEST_CASE("every reason and bound has a name of its own") {
    CHECK(all_names<reject_reason>() ==
          "malformed invalid_http too_large unsupported_media method_not_allowed unknown_path timeout overloaded "
          "queue_delay refused untranslated left_out loop bad_argument pages_held unauthenticated forbidden "
          "passwords_held ");
    CHECK(all_names<connection_bound>() == "max_connections max_connections_per_peer descriptors max_handshakes ");
    CHECK(all_names<connection_wait>() == "request reading ending ");
}
