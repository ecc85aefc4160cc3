#include "http/access_control.hpp"

#include <tuple>

#include "support/catch.hpp"

using namespace seriesgate;
using kind = credentials::kind;

namespace {

/// KIND USER SECRET
std::string read(std::string_view value) {
    const credentials shown = read_authorization(value);
    const std::string secret = "[" + shown.secret.reveal() + "]";
    if (shown.as == kind::bearer) return "bearer " + secret;
    return shown.as == kind::basic ? "basic [" + shown.user + "] " + secret : "unreadable";
}

}  // namespace

TEST_CASE("a user and a password are read") {
    CHECK(read("Basic YWxpY2U6c2VjcmV0") == "basic [alice] [secret]");
    CHECK(read("basic YWxpY2U6c2VjcmV0") == "basic [alice] [secret]");
    CHECK(read("BASIC   YWxpY2U6c2VjcmV0") == "basic [alice] [secret]");
    CHECK(read("Basic YTpiOmM=") == "basic [a] [b:c]");
    CHECK(read("Basic Og==") == "basic [] []");
    CHECK(read("Basic w6Q6/w==") == "basic [\xc3\xa4] [\xff]");
}

TEST_CASE("a token is read") {
    CHECK(read("Bearer abc.DEF-123_~+/==") == "bearer [abc.DEF-123_~+/==]");
    CHECK(read("bearer  x") == "bearer [x]");
    CHECK(read("Bearer " + std::string(token_bytes_max, 't')) == "bearer [" + std::string(token_bytes_max, 't') + "]");
}

TEST_CASE("what is no credential is unreadable") {
    const auto value =
        GENERATE(as<std::string>{}, "", " ", "Basic", "Basic ", "Bearer", "Bearer ", "Bearer   ", "YWxpY2U6c2VjcmV0",
                 "Digest username=\"alice\"", "Negotiate YWxpY2U6c2VjcmV0", "Basic YWxpY2U",
                 "Basic YWxpY2U6c2VjcmV0=", "Basic YWxpY2U6c2VjcmV0, Basic YWxpY2U6c2VjcmV0", "Basic YWxp Y2U6c2VjcmV0",
                 "Basic YWxpY2Vz", "Basic ====", "Basic =", "Basic YTpiAGM=", "Basic YT-_", "Basic\tYWxpY2U6c2VjcmV0");
    CAPTURE(value);
    CHECK(read(value) == "unreadable");
}

TEST_CASE("what is longer than a credential may be is unreadable") {
    // 3 bytes of 'a:b' and then groups of "bbb".
    const auto with_password = [](std::size_t bytes) {
        std::string text = "Basic YTpi";
        for (std::size_t i = 1; i < bytes; i += 3) text += "YmJi";
        return text;
    };
    CHECK(read(with_password(127)).starts_with("basic [a] "));
    CHECK(read(with_password(130)) == "unreadable");
    CHECK(read(with_password(100'000)) == "unreadable");
    CHECK(read("Bearer " + std::string(token_bytes_max + 1, 't')) == "unreadable");
}
