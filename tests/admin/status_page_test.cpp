#include "admin/status_page.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "support/catch.hpp"

using namespace seriesgate;

namespace {

const std::chrono::sys_seconds day_start = std::chrono::sys_days{std::chrono::year{2026} / 1 / 2};
const std::chrono::sys_seconds hour_start = day_start + 10h;

budget_figures tenant(std::string name, std::uint64_t current) {
    return {.name = {.limit = {}, .tenant = std::move(name), .has_tenant = true, .group = {}},
            .mode = limit_mode::observe,
            .hourly = {.series_max = 500, .series_current = current, .series_refused = 1},
            .daily = {.series_max = 0, .series_current = 7, .series_refused = 2}};
}

budget_figures group(std::string limit, group_labels labels, std::uint64_t current) {
    return {.name = {.limit = std::move(limit), .tenant = {}, .group = std::move(labels)},
            .mode = limit_mode::enforce,
            .hourly = {.series_max = 1'000, .series_current = current, .series_refused = 1'234},
            .daily = {}};
}

/// A gate in its 23rd minute of the hour.
status_facts some_facts() {
    status_facts facts{.process = {.version = "1.2.3", .uptime = 12s}, .now = hour_start + 23min};
    facts.figures.hourly = {.span = {hour_start, hour_start + 1h}, .series_max = 10'000, .series_current = 2'500};
    facts.figures.daily = {.span = {day_start, day_start + 24h}, .series_current = 9'000};
    facts.hours = {{.start = hour_start - 2h, .newly_admitted = 100, .refused = 0},
                   {.start = hour_start, .newly_admitted = 50}};
    facts.upkeep.config_taken_over = hour_start;
    facts.counts.delivery.last_refused = facts.now - 3s;
    return facts;
}

finding trace_ids() {
    return {.what = explosion::label,
            .label = "trace_id",
            .metrics = {"http_requests_total"},
            .series = 6'000,
            .refused = 3'500,
            .values = {.values = 5'990},
            .job = "shop",
            .since = hour_start + 4min};
}

sampled some_trace_ids(const std::string& metric = "http_requests_total") {
    sampled made;
    for (int i = 0; i < 300; ++i)
        made.refused.push_back(std::make_shared<const sampled_series>(
            sampled_series{.labels = {{"__name__", metric}, {"job", "shop"}, {"trace_id", std::to_string(i)}},
                           .first_seen = hour_start + 4min}));
    return made;
}

void refuse(status_facts& facts, refused_series one) {
    facts.refused.push_back(std::make_shared<const refused_series>(std::move(one)));
}

bool has(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

std::size_t count_of(std::string_view text, std::string_view part) {
    std::size_t count = 0;
    for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

constexpr std::string_view hostile = "<script>alert(1)</script>\"'&lt;<!--\x01]]>\xe2\x80\xae";
constexpr std::string_view harmless =
    "&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;lt;&lt;!--\\x01]]&gt;\\u202e";

}  // namespace

TEST_CASE("the first thing said is whether data is withheld") {
    status_facts facts = some_facts();
    CHECK(verdict_text(facts) == "Nothing is refused this hour");
    CHECK(has(now_section(facts), "<p>No limit is in the way of the 2,500 series of this hour.</p>"));
    CHECK(has(now_section(facts), "class=\"well\""));

    facts.hours.front().refused = 40;
    CHECK(has(now_section(facts), "<p>40 new series were refused earlier today.</p>"));
    facts.hours.front().start -= 10h;  // yesterday
    CHECK(has(now_section(facts), "No limit is in the way"));

    facts.hours.back().refused = 3'501;
    facts.figures.hourly.series_refused = 3'493;
    CHECK(verdict_text(facts) == "Data is withheld: 3,501 new series refused this hour");
    CHECK(has(now_section(facts), "<section id=\"now\" data-part class=\"withheld\""));
    CHECK(has(now_section(facts), "The hour&#39;s limits reset at <time datetime=\"2026-01-02T11:00:00Z\""));
    CHECK_FALSE(has(now_section(facts), "The day&#39;s reset"));
    facts.figures.daily.series_refused = 1;
    CHECK(has(now_section(facts), "The day&#39;s reset at <time datetime=\"2026-01-03T00:00:00Z\""));
    CHECK(has(now_section(facts), "No single label explains it"));

    facts.figures.mode = limit_mode::observe;
    facts.figures.global.hourly.series_refused = 3'493;
    CHECK(verdict_text(facts) == "The gate observes: 3,493 new series would be refused by the global limit this hour");
    CHECK(has(now_section(facts), "class=\"well\""));
    facts.figures.global.hourly.series_refused = 0;
    CHECK(verdict_text(facts) == "The gate observes, and nothing would be refused this hour");
    facts.figures.global.daily = {.series_max = 9, .series_current = 9, .series_refused = 700};
    CHECK(verdict_text(facts) == "The gate observes: 700 new series would be refused by the global limit today");
}

TEST_CASE("what a limit would refuse that only observes is said, whoever's it is") {
    status_facts facts = some_facts();
    budget_figures one{.name = {.limit = "per-namespace", .group = {{"namespace", "x"}}}, .mode = limit_mode::observe};
    one.hourly.series_refused = 17'723;
    facts.figures.limits = {one};
    CHECK(verdict_text(facts) == "Nothing is refused this hour");
    CHECK(has(
        now_section(facts),
        "17,723 new series would be refused by limit per-namespace{namespace=&quot;x&quot;}, which only observes."));
    facts.figures.mode = limit_mode::observe;
    facts.figures.limits.front().mode = limit_mode::enforce;
    CHECK(verdict_text(facts) ==
          "The gate observes: 17,723 new series would be refused by limit "
          "per-namespace{namespace=\"x\"} this hour");
}

TEST_CASE("the limits that refuse are named, those of this hour") {
    status_facts facts = some_facts();
    refuse(facts, {.limit = "global", .when = hour_start});
    refuse(facts, {.limit = "<b>", .when = hour_start});
    refuse(facts, {.limit = "<b>", .when = hour_start + 1min});
    refuse(facts, {.limit = "old", .when = hour_start - 1s});
    CHECK_FALSE(has(now_section(facts), "Why:"));
    facts.hours.back().refused = 3;
    CHECK(has(now_section(facts),
              "<p>Why: <bdi>limit &lt;b&gt; has no room this hour</bdi>; <bdi>the global limit has no room this "
              "hour</bdi>.</p>"));
    for (const auto* limit : {"second", "third", "fourth"}) refuse(facts, {.limit = limit, .when = hour_start});
    CHECK(count_of(now_section(facts), "has no room this hour") == 3);  // who has more to do looks below
}

TEST_CASE("a finding has its sentence and what to paste") {
    status_facts facts = some_facts();
    facts.hours.back().refused = 3'501;
    facts.of_hour = {trace_ids(), trace_ids()};
    facts.of_day = {trace_ids()};
    facts.of_day.front().refused = 0;
    facts.samples = some_trace_ids();
    const std::string html = now_section(facts);
    CHECK(count_of(html,
                   "label trace_id of http_requests_total has about 6,000 values among 6,000 new series of job shop, "
                   "since 10:04 UTC</bdi></p>") == 3);
    CHECK(has(html, "<strong class=\"bad\">3,500</strong> of these series were refused."));
    CHECK(count_of(html, "of these series were refused") == 2);  // of none nothing is said
    CHECK(has(html, "data-copies=\"hour-1-relabel\""));
    CHECK(has(html,
              ">- source_labels: [&#39;__name__&#39;, &#39;job&#39;, &#39;trace_id&#39;]\n"
              "  regex: &#39;http_requests_total;shop;.+&#39;\n  action: drop\n</pre>"));
    CHECK(has(html, "match: &#39;{__name__=~&quot;http_requests_total&quot;,job=~&quot;shop&quot;,"));
    CHECK(count_of(html, "<p class=\"quiet\">Tried on 0 of 0 series that are no part of it: takes none.</p>") == 3);
    CHECK(count_of(html, "<details ") == 1);  // of two, the worst is open; of the day there is one
    CHECK_FALSE(has(html, "No single label"));
    CHECK(count_of(html, " hidden id=") == 6);  // there may be no script: then buttons do nothing
}

TEST_CASE("what needs somebody is said, whether data is withheld or not") {
    status_facts facts = some_facts();
    CHECK_FALSE(has(now_section(facts), "warnings"));
    facts.figures.clock_in_doubt = true;
    facts.counts.warm = warm_counts{.state = "failed"};
    facts.upkeep.reload_successful = false;
    facts.upkeep.web_config_successful = false;
    facts.counts.stores = {{.name = "a", .backends = {{.name = "a:1"}, {.name = "<b>:2", .is_up = false}}}};
    facts.counts.shared = shared_counts{.state = "away", .name_space = "ns"};
    const std::string html = now_section(facts);
    CHECK(count_of(html, "<li>") == 6);
    CHECK(has(html, "<li>The clock has leapt by over an hour and is not believed yet.</li>"));
    CHECK(has(html,
              "<li>The warm start has not read all series of the store; the others are new to the gate. The log has "
              "more.</li>"));
    CHECK(has(html, "<li>The store &lt;b&gt;:2 does not answer.</li>"));
    CHECK(has(html, "<li>The store that the fleet counts in: away.</li>"));
    CHECK(has(html, "<li>The last reload found a mistake"));
}

TEST_CASE("during a warm start no data is withheld, whatever has found no room") {
    status_facts facts = some_facts();
    facts.figures.hourly.series_refused = 5;
    CHECK(is_withholding(facts));
    facts.counts.warm = warm_counts{.state = "reading", .names = 7, .names_read = 3};
    CHECK_FALSE(is_withholding(facts));
    CHECK(has(now_section(facts),
              "A warm start reads the store, 3 of 7 metric names so far. Until its end nothing is "
              "refused."));
    facts.counts.warm->state = "complete";
    CHECK(is_withholding(facts));
}

TEST_CASE("windows have their counts, what is reserved and when they end") {
    status_facts facts = some_facts();
    facts.figures.global.hourly.series_reserved = 1'500;
    facts.figures.global.daily.series_reserved = 77;  // of what is not limited nothing is
    facts.figures.hourly.series_refused = 3'493;
    facts.figures.hourly.refused_is_exact = false;
    std::string html = windows_section(facts);
    CHECK(has(html, "<strong>2,500</strong> of 10,000 series"));
    CHECK(has(html, "<rect class=\"taken\" width=\"250\" height=\"8\"/><rect class=\"kept\" x=\"250\" width=\"150\""));
    CHECK(has(html, "<dt>kept for known series</dt><dd>1,500</dd>"));
    CHECK(has(html, "<dt>room for new series</dt><dd>6,000</dd>"));
    CHECK(has(html, "<dt>refused by the hour&#39;s limits</dt><dd><strong class=\"bad\">about 3,500</strong></dd>"));
    CHECK(has(html,
              "<dt>resets at</dt><dd><time datetime=\"2026-01-02T11:00:00Z\" title=\"2026-01-02T11:00:00Z\">11:00 "
              "UTC</time>, in 37 min</dd>"));
    CHECK(has(html, "<strong>9,000</strong> series, not limited"));
    CHECK(has(html, "<dt>room for new series</dt><dd>not limited</dd>"));
    CHECK(has(html, "00:00 UTC</time>, in 13 h 37 min</dd>"));
    facts.figures.mode = limit_mode::observe;
    html = windows_section(facts);
    CHECK(has(html, "<dt>would be refused by the global limit</dt><dd>about 3,500</dd>"));
    CHECK(count_of(html, "would be refused") == 1);  // the day is not limited
}

TEST_CASE("data is withheld while a limit is spent or has refused lately, and no longer when it was raised") {
    status_facts facts = some_facts();
    facts.hours.back().refused = 3;
    CHECK(is_withholding(facts));
    facts.counts.delivery.last_refused = facts.now - 10min;
    CHECK_FALSE(is_withholding(facts));
    CHECK(verdict_text(facts) == "Nothing is refused now: 3 new series were, earlier this hour");
    CHECK(has(now_section(facts), "New series find room again."));
    facts.figures.limits = {group("per-ns", {{"ns", "a"}}, 1'000)};
    CHECK(is_withholding(facts));
    facts.figures.limits.front().hourly.series_max = 2'000;
    CHECK_FALSE(is_withholding(facts));
    facts.figures.limits = {group("ignored-values", {}, 1'000)};
    CHECK_FALSE(is_withholding(facts));
    facts.figures.mode = limit_mode::observe;
    CHECK(verdict_text(facts) == "The gate observes, and nothing would be refused this hour");
}

TEST_CASE("the chart has 24 hours, and each is in its place") {
    status_facts facts = some_facts();
    facts.hours.back().refused = 150;
    facts.hours.insert(facts.hours.begin(), {.start = hour_start - 24h, .newly_admitted = 7'777});  // too old
    const std::string html = hours_chart(facts);
    CHECK(count_of(html, "<g>") == 24);
    CHECK(has(html, "aria-label=\"150 new and 150 refused series in the last 24 hours, at most 200 in an hour\""));
    CHECK(has(html, "<title>08:00 UTC: 100 new, 0 refused</title><rect class=\"slot\" x=\"420\""));
    CHECK(has(html,
              "<title>10:00 UTC: 50 new, 150 refused</title><rect class=\"slot\" x=\"460\" width=\"20\" "
              "height=\"100\"/><rect class=\"new\" x=\"462\" y=\"75\" width=\"16\" height=\"25\"/>"
              "<rect class=\"refused\" x=\"462\" y=\"0\" width=\"16\" height=\"75\"/>"));
    CHECK(has(html, "<span>11:00</span><span>up to 200 an hour</span><span>10:00 UTC</span>"));
    facts.hours.clear();
    CHECK(has(hours_chart(facts), "<title>10:00 UTC: 0 new, 0 refused</title>"));
}

TEST_CASE("one number is shown for all that is refused this hour") {
    status_facts facts = some_facts();
    facts.hours.back().refused = 40'000;  // by who says whose they are, who no longer looks at all of them
    facts.hours.back().is_exact = false;
    facts.figures.hourly.series_refused = 39'410;
    facts.figures.hourly.refused_is_exact = false;
    CHECK(verdict_text(facts) == "Data is withheld: about 39,000 new series refused this hour");
    CHECK(has(windows_section(facts), "<strong class=\"bad\">about 39,000</strong>"));
    CHECK(has(hours_chart(facts), "<title>10:00 UTC: about 50 new, about 39,000 refused</title>"));
    // What a day's limit has refused is counted apart.
    facts.figures.daily.series_refused = 5;
    CHECK(verdict_text(facts) == "Data is withheld: about 40,000 new series refused this hour");
    facts.hours.back() = {.start = hour_start, .newly_admitted = 50, .refused = 3'000};
    facts.figures.hourly.series_refused = 2'995;
    CHECK(verdict_text(facts) == "Data is withheld: 3,000 new series refused this hour");
    facts.hours.back().refused = 0;  // a restart with other labels
    CHECK(verdict_text(facts) == "Data is withheld: about 3,000 new series refused this hour");
}

TEST_CASE("the last hour's refusals are shown by minute, if there are any") {
    status_facts facts = some_facts();
    CHECK(minutes_chart(facts).empty());
    auto& minutes = facts.counts.delivery.refused_by_minute;
    minutes[58] = 200;
    minutes[59] = 50;
    const std::string html = minutes_chart(facts);
    CHECK(count_of(html, "<g>") == 60);
    CHECK(
        has(html, "aria-label=\"250 samples refused in the last hour, at most 200 in a minute, 50 in the last one\""));
    CHECK(has(html, "<title>10:23 UTC: 50 samples refused</title><rect class=\"slot\" x=\"1180\""));
    CHECK(has(html, "<rect class=\"refused\" x=\"1182\" y=\"75\" width=\"16\" height=\"25\"/>"));
    CHECK(has(html, "<span>09:24</span><span>up to 200 a minute</span><span>10:23 UTC</span>"));
    CHECK(has(windows_section(facts), html));
}

TEST_CASE("what is over is said, and no longer stands out") {
    status_facts facts = some_facts();
    facts.of_hour = {trace_ids()};
    CHECK(has(now_section(facts), "<li class=\"finding\">"));
    facts.of_hour.front().over_since = hour_start + 12min;
    CHECK(has(now_section(facts), "<li class=\"finding over\">"));
    CHECK(has(now_section(facts), ", since 10:04 UTC, over since 10:12 UTC</bdi>"));
}

TEST_CASE("a limit that is too small has what to raise it to, to copy") {
    status_facts facts = some_facts();
    facts.too_small_limits = {{.whose = "limit <b>",
                               .hourly = {.series_max = 1'000, .suggested = 1'800},
                               .daily = {.series_max = 0, .suggested = 5'000},
                               .yaml = "limits:\n  - name: '<b>'\n"},
                              {.whose = "the global limit", .hourly = {.series_max = 1'000, .suggested = 900}}};
    const std::string html = now_section(facts);
    CHECK(has(html, "<h4 id=\"raise-1-title\">Raise limit &lt;b&gt;: maxHourlySeries from 1,000 to 1,800</h4>"));
    CHECK(has(html, "data-copies=\"raise-1\""));
    CHECK(has(html, ">limits:\n  - name: &#39;&lt;b&gt;&#39;\n</pre>"));
    CHECK_FALSE(has(html, "raise-2"));
}

TEST_CASE("what is too long to be shown is linked to where it stands") {
    status_facts facts = some_facts();
    facts.too_small_limits = {
        {.whose = "limit a", .hourly = {.series_max = 1'000, .suggested = 1'800}, .yaml = std::string(3'000, 'x')}};
    CHECK(has(now_section(facts), "<a href=\"api/v1/suggestions?limit=1000\">Raise limit a: "));
    const std::string metric(3'000, 'm');
    facts.samples = some_trace_ids(metric);
    facts.of_hour = {trace_ids()};
    facts.of_hour.front().metrics = {metric};
    CHECK(has(now_section(facts), "<a href=\"api/v1/findings\">Give it a limit"));
    std::swap(facts.of_day, facts.of_hour);
    CHECK(has(now_section(facts), "<a href=\"api/v1/findings?window=daily\">Give it a limit"));
}

TEST_CASE("a budget that many share says so") {
    status_facts facts = some_facts();
    facts.figures.limits.push_back(group("per-app", {{"app", "__overflow__"}}, 3));
    CHECK_FALSE(has(budgets_section(facts), "maxGroups"));
    facts.figures.limits.back().name.overflow = true;
    CHECK(has(budgets_section(facts),
              "overflow_<wbr>_</bdi> <span class=\"quiet\">shared by all groups beyond maxGroups "
              "of the limit: raise it, or limit by a label with fewer values</span></td>"));
}

TEST_CASE("the hundred tenants and groups with the most demand are shown") {
    status_facts facts = some_facts();
    for (std::uint64_t n = 0; n < 80; ++n) {
        facts.figures.tenants.push_back(tenant(fmt::format("t{}", n), 100 + n));
        facts.figures.limits.push_back(group("per-app", {{"app", fmt::format("a{}", n)}, {"env", "x"}}, n));
    }
    const std::string html = budgets_section(facts);
    CHECK(has(html, "<section id=\"budgets\" data-total=\"160\""));
    CHECK(has(html, "100 of 160, those with the most demand; the fullest first."));
    CHECK(count_of(html, "<tr><th scope=\"row\">") == 100);
    CHECK(has(html,
              "<tr><th scope=\"row\"><bdi>per-app</bdi></th><td><bdi>app=a79, env=x"
              "</bdi></td><td><bdi></bdi></td><td>enforce</td><td>79</td><td>1,000</td><td class=\"used u5\">7 %"
              "</td><td class=\"bad\">1,234</td><td>0</td><td>–</td><td></td><td>0</td></tr>\n"));
    CHECK(has(html,
              "<tbody id=\"budget-rows\">\n<tr><th "
              "scope=\"row\"><em>tenant</em></th><td><bdi></bdi></td><td><bdi>t79</bdi></td><td>observe"
              "</td><td>179</td><td>500</td><td class=\"used u35\">35 %</td><td>1</td><td>7</td><td>–</td><td>"
              "</td><td>2</td></tr>\n"));
    CHECK((has(html, "<bdi>t60</bdi>") && !has(html, "<bdi>t59</bdi>")));
    facts.figures.tenants.clear();
    facts.figures.limits.clear();
    CHECK(has(budgets_section(facts), "<p>None: <code>tenants</code> and <code>limits</code>"));
}

TEST_CASE("a full budget is red only if it refuses series") {
    status_facts facts = some_facts();
    facts.figures.limits = {group("per-app", {}, 1'000)};
    CHECK(has(budgets_section(facts), "<td class=\"used u100\">100 %</td><td class=\"bad\">1,234</td>"));
    facts.figures.limits = {group("ignored-values", {}, 1'000)};
    CHECK(has(budgets_section(facts), "<td class=\"used u95\">100 %</td><td>1,234</td>"));
    facts.figures.limits = {tenant("a", 500)};  // it observes
    CHECK(has(budgets_section(facts), "<td class=\"used u95\">100 %</td><td>1</td>"));
}

TEST_CASE("the tenant of senders that name none is told from a limit that tells no tenants apart") {
    status_facts facts = some_facts();
    facts.figures.tenants.push_back(tenant("", 1));
    facts.figures.limits.push_back(tenant("", 2));
    facts.figures.limits.back().name.limit = "per-tenant";
    facts.figures.limits.push_back(group("for-all", {}, 3));
    const std::string html = budgets_section(facts);
    CHECK(has(html, "<em>tenant</em></th><td><bdi></bdi></td><td>(no tenant)</td>"));
    CHECK(has(html, "<bdi>per-tenant</bdi></th><td><bdi></bdi></td><td>(no tenant)</td>"));
    CHECK(has(html, "<bdi>for-all</bdi></th><td><bdi></bdi></td><td><bdi></bdi></td>"));
}

TEST_CASE("those with the most series are in tables, with what may be wrong") {
    status_facts facts = some_facts();
    CHECK(has(top_section(facts), "<p>No series has been new or refused.</p>"));
    using sort = top_table::sort;
    facts.top = {
        {.of = sort::metrics, .rows = {{.value = "up", .newly_admitted = 1'000, .refused = 5, .error = 12}}},
        {.of = sort::labels, .rows = {{.value = "code", .detail = "up", .newly_admitted = 9, .distinct_values = 11}}},
        {.of = sort::values, .label = "job", .rows = {{.value = "node", .newly_admitted = 9}}},
        {.of = sort::tenants, .rows = {{.value = "", .newly_admitted = 9}}}};
    facts.top[1].rows.push_back({.value = std::string(41, 'j'), .detail = "up", .distinct_values = 10});
    facts.top[1].rows.push_back({.value = "instance", .tenant = "t", .distinct_values = 640, .metrics = 50});
    facts.top[1].rows.back().values_are_exact = false;
    const std::string html = top_section(facts);
    CHECK(has(html,
              "<bdi>instance</bdi> <span class=\"quiet\">of 50 metrics of targets, tenant <bdi>t</bdi></span></th>"
              "<td>about 640</td>"));
    CHECK(count_of(html, ">±</abbr></th>") == 4);
    CHECK(
        has(html, "<bdi>up</bdi></th><td>about 1,000</td><td class=\"bad\">about 5</td><td class=\"quiet\">±12</td>"));
    CHECK(
        has(html, "<bdi>code</bdi> <span class=\"quiet\">of <bdi>up</bdi></span></th><td>11</td><td>9</td><td>0</td>"));
    CHECK(has(html, "<caption>Values of <bdi>job</bdi></caption>"));
    CHECK(has(html, "<th scope=\"row\">(no tenant)</th>"));
    CHECK(has(html, "<th scope=\"row\"><bdi>" + std::string(27, 'j') + "…jjjj<wbr>" + std::string(9, 'j') + "</bdi>"));
}

TEST_CASE("refused series are shown with why, and long ones lead to all of their labels") {
    status_facts facts = some_facts();
    CHECK(has(refused_section(facts), "<p>None since the gate was started.</p>"));
    refuse(facts,
           {.labels =
                {{"__name__", "m"}, {"job", "a b"}, {"A", "zAZ09_"}, {"big", std::string(65'536, 'x')}, {"odd", "\""}},
            .tenant = "team",
            .limit = "per-app",
            .sender = "10.0.0.3",
            .agent = "vmagent",
            .when = hour_start + 5min});
    for (int n = 0; n < 30; ++n)
        refuse(facts,
               {.labels = {{"__name__", "up"}}, .tenant = std::string(41, 't'), .limit = "global", .when = hour_start});
    const std::string html = refused_section(facts);
    CHECK(has(html, "20 of the last 31, the newest first"));
    CHECK(has(html,
              "<tr><td><time datetime=\"2026-01-02T10:05:00Z\">10:05:00</time></td><td><code><bdi>m{job=&quot;a "
              "b&quot;,A=&quot;zAZ09_&quot;,big=&quot;xxx"));
    CHECK(has(html,
              "<a href=\"api/v1/refused?limit=10&amp;match=%7B__name__%3D%22m%22%2Cjob%3D%22a%20b%22"
              "%2CA%3D%22zAZ09_%22%7D\">"));
    CHECK(has(html, "<td><bdi>team</bdi></td><td><bdi>10.0.0.3</bdi> <span class=\"quiet\"><bdi>vmagent</bdi></span>"));
    CHECK(has(html, "<td>limit per-app has no room this hour</td>"));
    CHECK(count_of(html, "<td><bdi>" + std::string(27, 't') + "…tttt<wbr>" + std::string(9, 't') + "</bdi></td>") ==
          19);
    // What can be asked about leads to the answer; the first has more than a link should have.
    CHECK(count_of(html, " <a class=\"why\" href=\"api/v1/explain?series=%7B__name__%3D%22up%22%7D&amp;tenant=tttt") ==
          19);
    CHECK(html.size() < 16'000);
}

TEST_CASE("stores, the fleet and the gate itself are shown") {
    status_facts facts = some_facts();
    CHECK(has(stores_section(facts), "<p>No store: <code>discard:</code> keeps nothing.</p>"));
    facts.counts.stores = {{.name = "a", .backends = {{.name = "a:1", .requests = 1'500, .errors = 2}}},
                           {.name = "b", .is_replica = true, .backends = {{.name = "b:2", .is_up = false}}}};
    facts.counts.shared = shared_counts{
        .state = "joined", .name_space = "ns", .gates = {{.name = "g1", .version = "1", .seen_seconds_ago = 3}}};
    const std::string html = stores_section(facts);
    CHECK(has(html,
              "<bdi>a:1</bdi></th><td class=\"left\">store</td><td class=\"left\">up</td><td>0</td><td>0</td>"
              "<td>1,500</td><td>2</td>"));
    CHECK(has(html, "<bdi>b:2</bdi></th><td class=\"left\">replica</td><td class=\"left\"><strong>down</strong></td>"));
    CHECK(has(html, "Gates that count together in <bdi>ns</bdi>: joined"));
    CHECK(has(html, "<td>3 s ago</td>"));

    CHECK(has(upkeep_section(facts), "<dt>state saved</dt><dd>not kept: <code>state.dir</code> is not set</dd>"));
    facts.upkeep.keeps_state = true;
    CHECK(has(upkeep_section(facts), "<dt>state saved</dt><dd>not saved yet</dd>"));
    facts.upkeep.state_saved = hour_start + 22min;
    facts.upkeep.reload_successful = false;
    CHECK(has(upkeep_section(facts), "10:22 UTC</time>, 1 min ago</dd>"));
    CHECK(has(upkeep_section(facts), "10:00 UTC</time>, 23 min ago; <strong>the last reload failed</strong></dd>"));
}

TEST_CASE("no name becomes markup, whoever has chosen it") {
    status_facts facts = some_facts();
    const std::string name{hostile};
    const std::string shown = "<script>alert(1)</script>\"'&lt;<!--\\x01]]>\\u202e";  // what limiter and API give
    facts.process.version = shown;
    facts.figures.tenants.push_back(tenant(shown, 1));
    facts.figures.limits.push_back(group(shown, {{shown, shown}}, 1));
    facts.top = {{.of = top_table::sort::values, .label = shown, .rows = {{.value = shown, .detail = shown}}}};
    refuse(facts, {.labels = {{"__name__", name}, {name, name}}, .tenant = name, .sender = name, .agent = name});
    finding found = trace_ids();
    found.metrics = {name};
    found.job = found.sender = found.agent = found.tenant = name;
    facts.of_hour = {found};
    facts.counts.stores = {{.name = shown, .backends = {{.name = shown, .is_up = false}}}};
    facts.counts.shared =
        shared_counts{.state = shown, .name_space = shown, .gates = {{.name = shown, .version = shown}}};
    std::string page = status_html(facts);
    for (auto at = page.find("<wbr>"); at != std::string::npos; at = page.find("<wbr>")) page.erase(at, 5);
    CHECK(count_of(page, "<bdi>" + std::string{harmless} + "</bdi>") == 6);
    CHECK(count_of(page, "<script") == 1);  // its own
    CHECK_FALSE(has(page, "<!--"));
    CHECK_FALSE(has(page, "\x01"));
    CHECK_FALSE(has(page, "\xe2\x80\xae"));
    CHECK(has(page, "<h1>seriesgate <small>&lt;script&gt;"));
}

TEST_CASE("the page is small, whatever the names are") {
    status_facts facts = some_facts();
    const std::string worst(1'024, '&');
    for (std::uint64_t n = 0; n < 10'000; ++n) {
        facts.figures.limits.push_back(group(worst, {{worst, worst}}, n));
        facts.figures.limits.back().name.tenant = worst;
    }
    CHECK(facts.figures.limits.size() == 10'000);
    for (int i = 0; i < 1'000; ++i)
        refuse(facts, {.labels = {{worst, worst}, {worst, worst}}, .tenant = worst, .sender = worst, .agent = worst});
    facts.top.assign(7, {.of = top_table::sort::values,
                         .label = worst,
                         .rows = std::vector<top_row>(top_table::rows_max, {.value = worst, .detail = worst})});
    finding found = trace_ids();
    found.metrics.assign(10, worst);
    facts.of_hour.assign(10, found);
    facts.counts.stores.assign(1'000, {.name = worst, .backends = {{.name = worst, .is_up = false}}});
    const std::string page = status_html(facts);
    CHECK(page.size() < 450'000);
    facts = some_facts();
    for (std::uint64_t n = 0; n < 10'000; ++n)
        facts.figures.limits.push_back(group("per-namespace", {{"namespace", fmt::format("namespace-{}", n)}}, n));
    CHECK(status_html(facts).size() < 80'000);
}

TEST_CASE("the policy names the style and the script of the page, and no others") {
    const std::string page = status_html(some_facts());
    CHECK(count_of(page, "<style>" + std::string{page_style} + "</style>") == 1);
    CHECK(count_of(page, "<script type=\"module\">" + std::string{page_script} + "</script>") == 1);
    CHECK(status_policy() == fmt::format("default-src 'none'; style-src '{}'; script-src '{}'; connect-src 'self'; "
                                         "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
                                         "require-trusted-types-for 'script'; trusted-types 'none'",
                                         page_style_hash, page_script_hash));
    CHECK(page_style_hash.size() == 7 + 44);
    CHECK_FALSE(has(page, " style="));
    CHECK_FALSE(has(page,
                    " on"
                    "click="));
    for (const std::string_view sink :
         {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "DOMParser", "setHTML", "srcdoc"})
        CHECK_FALSE(has(page_script, sink));
}
