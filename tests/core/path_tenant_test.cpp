#include "core/path_tenant.hpp"

#include "support/catch.hpp"

using namespace seriesgate;

TEST_CASE("a path has one mark, in the place of one segment") {
    const auto vm = find_tenant_mark("/insert/{account}/prometheus/api/v1/write");
    REQUIRE(vm);
    CHECK(vm->before == "/insert/");
    CHECK(vm->behind == "/prometheus/api/v1/write");
    CHECK(vm->is_account);
    CHECK_FALSE(find_tenant_mark("/{tenant}/push")->is_account);
    CHECK(find_tenant_mark("/push/{tenant}")->behind.empty());
    for (const auto* path : {"", "/write", "/a{tenant}/w", "/{tenant}b/w", "{tenant}/w", "/{tenant}/{tenant}",
                             "/{tenant}/{account}", "/{account}/{tenant}", "/{other}/w", "/{tenant"})
        CHECK_FALSE(find_tenant_mark(path));
}

TEST_CASE("a tenant cannot change the path that it stands in") {
    const auto any = find_tenant_mark("/t/{tenant}/write");
    for (const auto* name : {"shop", "a.b-c_d~e", "..a", "7:0", "007"})
        CHECK(tenant_in_path("/t/" + std::string{name} + "/write", *any) == name);
    CHECK(tenant_in_path("/t/1%3A2/write", *any) == "1:2");
    CHECK(tenant_in_path("/t/1%3a2/write", *any) == "1:2");
    for (const auto* path : {"/t//write",      "/t/write",          "/t/./write",        "/t/../write",  "/t/a/b/write",
                             "/t/a%2Fb/write", "/t/a%2e/write",     "/t/a b/write",      "/t/a?/write",  "/t/a#/write",
                             "/t/a%/write",    "/t/{tenant}/write", "/t/\xc3\xa4/write", "/t/a/write/",  "/T/a/write",
                             "/t/a/write2",    "/t/a;b/write",      "/t/a@b/write",      "/t/a%3/write", ""})
        CHECK_FALSE(tenant_in_path(path, *any));
}

TEST_CASE("an account has one name") {
    const auto account = [](std::string_view segment) { return tenant_in_segment(segment, true); };
    CHECK(account("0") == "0");
    CHECK(account("7:0") == "7");
    CHECK(account("007:00") == "7");
    CHECK(account("7:08") == "7:8");
    CHECK(account("4294967295:4294967295") == "4294967295:4294967295");
    for (const auto* name : {"", ":", "7:", ":7", "7:8:9", "a", "7a", "-7", "+7", "4294967296", "7:4294967296", "0x7",
                             "multitenant", "7.0", "%37"})
        CHECK_FALSE(account(name));
    CHECK(fits_path("7:8", true));
    CHECK_FALSE(fits_path("7:0", true));
    CHECK_FALSE(fits_path("07", true));
    CHECK(fits_path("07", false));
    CHECK_FALSE(fits_path("", false));
    CHECK_FALSE(fits_path("a/b", false));
    CHECK_FALSE(fits_path("1%3A2", false));
}
