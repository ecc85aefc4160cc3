#include "admin/admin_service.hpp"

#include "support/answers.hpp"
#include "support/catch.hpp"
#include "support/running_loop.hpp"

namespace seriesgate::testing::admin_answers_test {
namespace {

/// Admin without a gate around it. Pages and reloads are made by whoever takes them from the desks.
struct scene {
    lifecycle life;
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

std::string text_of(const api_question& key) {
    constexpr std::array<const char*, 3> kinds{"metrics", "stats", "status"};
    std::string text = kinds.at(static_cast<std::size_t>(key.path));
    const budget_choice shown = choice_of(key);
    if (shown.shown_max != budget_choice{}.shown_max) text.append(" ").append(std::to_string(shown.shown_max));
    if (shown.tenant) text.append(" of ").append(*shown.tenant);
    if (shown.limit) text.append(" in ").append(*shown.limit);
    return text;
}

/// Gives everyone who asks for a page its key.
net::awaitable<void> give_keys(page_queue& pages) {
    return serve_desk(pages,
                      [](const page_queue::job& job) { return std::make_shared<const std::string>(text_of(job.key)); });
}

net::awaitable<void> give_nothing(page_queue& pages) {
    return serve_desk(pages, [](const page_queue::job&) { return page_text{}; });
}

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

TEST_CASE("pages are asked for at the desk, by kind and by what is to be on them") {
    scene at;
    const running_loop paging{[&] { return give_keys(at.shared.pages); }};
    const running_loop answering{[&] { return give_keys(at.shared.questions); }};
    const reply metrics = at.ask(&admin_answers::metrics, {});
    CHECK(metrics.text() == "metrics");
    CHECK(metrics.headers[http::field::content_type] == "text/plain; version=0.0.4; charset=utf-8");
    const reply stats = at.ask(&admin_answers::stats, {});
    CHECK(stats.text() == "stats");
    CHECK(stats.headers[http::field::content_type] == "application/json");
    for (const reply* each : {&metrics, &stats}) CHECK(each->headers["X-Content-Type-Options"] == "nosniff");
    CHECK(at.ask(&admin_answers::stats, {.query = "limit=7"}).text() == "stats 7");
    CHECK(at.ask(&admin_answers::stats, {.query = "name=paths&limit=0&tenant=%ff"}).text() ==
          "stats 0 of \\xff in paths");
    CHECK(at.ask(&admin_answers::status, {.query = "x=1"}).text() == "status");
}

TEST_CASE("the status page may run, load and be framed by nothing, for HEAD and for an error, too") {
    scene at;
    const running_loop answering{[&] { return give_nothing(at.shared.questions); }};
    for (const bool is_head : {true, false}) {
        const reply made = at.ask(&admin_answers::status, {.is_head = is_head});
        CHECK(made.status == (is_head ? 200 : 503));
        CHECK(made.headers[http::field::content_type] ==
              (is_head ? "text/html; charset=utf-8" : "text/plain; charset=utf-8"));
        CHECK(made.headers["Content-Security-Policy"].starts_with("default-src 'none'; style-src 'sha256-"));
        CHECK(made.headers["X-Content-Type-Options"] == "nosniff");
        CHECK(made.headers["Referrer-Policy"] == "no-referrer");
        CHECK(made.headers["Cache-Control"] == "no-store");
    }
}

TEST_CASE("the configuration in force is one text for all who ask, and a new one for those who come later") {
    scene at;
    *at.shared.in_force.lock() = std::make_shared<const std::string>("mode: enforce\n");
    const reply first = at.ask(&admin_answers::configuration, {});
    CHECK(first.status == 200);
    CHECK(first.text() == "mode: enforce\n");
    CHECK(first.headers[http::field::content_type] == "text/plain; charset=utf-8");
    CHECK(at.ask(&admin_answers::configuration, {}).shared_body == first.shared_body);
    *at.shared.in_force.lock() = std::make_shared<const std::string>("mode: observe\n");
    CHECK(at.ask(&admin_answers::configuration, {}).text() == "mode: observe\n");
    CHECK(first.text() == "mode: enforce\n");
}

TEST_CASE("HEAD has no page made, and no length") {
    scene at;
    const reply made = at.ask(&admin_answers::metrics, {.is_head = true});
    CHECK(made.status == 200);
    CHECK(made.length_unknown);
    CHECK(made.text().empty());
}

TEST_CASE("a question that cannot be understood is 400, with HEAD as well") {
    scene at;
    for (const bool is_head : {true, false}) {
        const reply made = at.ask(&admin_answers::stats, {.query = "limit=x", .is_head = is_head});
        CHECK(made.status == 400);
        CHECK(made.rejected == reject_reason::bad_argument);
    }
}

TEST_CASE("who finds no room for a page may come again") {
    scene at;
    const running_loop paging{[&] { return give_nothing(at.shared.pages); }};
    const reply made = at.ask(&admin_answers::metrics, {});
    CHECK(made.status == 503);
    CHECK(made.rejected == reject_reason::pages_held);
    CHECK(made.headers[http::field::retry_after] == "1");
}

TEST_CASE("a reload is waited for, and says what came of it") {
    scene at;
    bool good = true;
    const auto outcome = [&good](const reload_queue::job&) {
        return reload_outcome{.ok = std::exchange(good, false), .text = "gate.yaml:1: unknown key"};
    };
    const running_loop reloading{[&] { return serve_desk(at.shared.reloads, outcome); }};
    CHECK(at.ask(&admin_answers::reload, {}).status == 200);
    const reply bad = at.ask(&admin_answers::reload, {});
    CHECK(bad.status == 400);
    CHECK(bad.text() == "gate.yaml:1: unknown key\n");
    CHECK(at.reloads.requests.value() == 2);
}

}  // namespace
}  // namespace seriesgate::testing::admin_answers_test
