#include "admin/admin_answers.hpp"

#include <thread>

#include "support/answers.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

/// Admin without a gate around it. Pages and reloads are made by whoever takes them from the desks.
struct scene {
    process_life life;
    reload_metrics reloads;
    admin_shared shared{.life = life, .reload = reloads};
    net::io_context io{1};
    admin_answers admin{shared, io};

    using answers = net::awaitable<reply> (admin_answers::*)(const http_request&);
    reply ask(answers which, const asked_request& asked) {
        const route to{"/", "GET", route_kind::admin, [&](http_request& request) { return (admin.*which)(request); }};
        return answer_of(to, asked, io);
    }
};

/// Gives everyone who asks for a page its key.
void give_keys(const std::stop_token& stop, page_desk& pages) {
    while (const auto order = pages.take(stop)) {
        std::string text = order->key.kind == page_kind::stats ? "stats" : "metrics";
        if (order->key.is_cut()) text.append(" ").append(std::to_string(order->key.shown_max));
        order->give(std::make_shared<const std::string>(std::move(text)));
    }
}

}  // namespace

TEST_CASE("health is answered at every stage") {
    scene at;
    CHECK(at.ask(&admin_answers::healthy, {}).text() == "OK\n");
    at.life.drain();
    CHECK(at.ask(&admin_answers::healthy, {}).status == 200);
}

TEST_CASE("readiness is 503 while starting and while draining") {
    scene at;
    const reply starting = at.ask(&admin_answers::ready, {});
    CHECK(starting.status == 503);
    CHECK(starting.text() == "starting\n");
    at.life.become_ready();
    CHECK(at.ask(&admin_answers::ready, {}).status == 200);
    at.life.drain();
    const reply draining = at.ask(&admin_answers::ready, {});
    CHECK(draining.status == 503);
    CHECK(draining.text() == "draining: shutting down\n");
}

TEST_CASE("what keeps it from being ready is said") {
    scene at;
    std::string why = "no name";
    at.shared.waits_for = [&why] { return why; };
    CHECK(at.ask(&admin_answers::ready, {}).text() == "starting: no name\n");
    why.clear();
    CHECK(at.ask(&admin_answers::ready, {}).text() == "starting\n");
}

TEST_CASE("pages are asked for at the desk, by kind and length") {
    scene at;
    std::jthread paging{[&](const std::stop_token& stop) { give_keys(stop, at.shared.pages); }};
    const reply metrics = at.ask(&admin_answers::metrics, {});
    CHECK(metrics.text() == "metrics");
    CHECK(metrics.headers[http::field::content_type] == "text/plain; version=0.0.4; charset=utf-8");
    const reply stats = at.ask(&admin_answers::stats, {});
    CHECK(stats.text() == "stats");
    CHECK(stats.headers[http::field::content_type] == "application/json");
    CHECK(at.ask(&admin_answers::stats, {.query = "limit=7"}).text() == "stats 7");
    CHECK(at.ask(&admin_answers::stats, {.query = "limit=0&x=1"}).text() == "stats 0");
}

TEST_CASE("HEAD has no page made, and no length") {
    scene at;
    const reply made = at.ask(&admin_answers::metrics, {.is_head = true});
    CHECK(made.status == 200);
    CHECK(made.length_unknown);
    CHECK(made.text().empty());
}

TEST_CASE("a limit that is no whole number is 400") {
    scene at;
    for (const auto* query :
         {"limit=", "limit=-1", "limit=1.5", "limit=x", "limit=1&limit=2", "limit=99999999999999999999"}) {
        CAPTURE(query);
        const reply made = at.ask(&admin_answers::stats, {.query = query});
        CHECK(made.status == 400);
        CHECK(made.rejected == reject_reason::bad_argument);
    }
}

TEST_CASE("who finds no room for a page may come again") {
    scene at;
    std::jthread paging{[&](const std::stop_token& stop) {
        while (const auto order = at.shared.pages.take(stop)) order->give(nullptr);
    }};
    const reply made = at.ask(&admin_answers::metrics, {});
    CHECK(made.status == 503);
    CHECK(made.rejected == reject_reason::pages_held);
    CHECK(made.headers[http::field::retry_after] == "1");
}

TEST_CASE("a reload is waited for, and says what came of it") {
    scene at;
    bool good = true;
    std::jthread reloading{[&](const std::stop_token& stop) {
        while (const auto order = at.shared.reloads.take(stop))
            order->give({.ok = std::exchange(good, false), .text = "gate.yaml:1: unknown key"});
    }};
    CHECK(at.ask(&admin_answers::reload, {}).status == 200);
    const reply bad = at.ask(&admin_answers::reload, {});
    CHECK(bad.status == 400);
    CHECK(bad.text() == "gate.yaml:1: unknown key\n");
    CHECK(at.reloads.requests.value() == 2);
}
