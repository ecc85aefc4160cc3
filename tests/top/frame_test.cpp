#include "top/frame.hpp"

#include "support/catch.hpp"

using namespace seriesgate::top;
using namespace std::chrono;

namespace {

constexpr sys_seconds ten_past = sys_days{year{2026} / 1 / 1} + 10h + 10min;

figures of_an_explosion() {
    figures made;
    made.version = "0.1.0~433.g0123456789ab";
    made.uptime = 51h + 4min;
    made.mode = "enforce";
    made.hourly = {.series_max = 100000, .series = 100000, .refused = 81234, .end = ten_past + 50min};
    made.daily = {.series_max = 0, .series = 123456, .refused = 0, .end = ten_past + 13h + 50min};
    made.findings.push_back(
        {.text = "label trace_id of http_requests_total has 99,812 values among 100,000 new series of job shop, from "
                 "10.0.0.3 (Prometheus/3.5.0), since 10:04; 81,234 were refused",
         .relabel = "- source_labels: [__name__]\n  regex: 'http_requests_total'\n  target_label: trace_id\n"
                    "  replacement: ''\n",
         .limit = "limits:\n  - name: http_requests_total\n"});
    for (std::uint64_t i = 0; i < 7; ++i)
        made.top.push_back({.value = "metric_" + std::to_string(i) + "_total",
                            .series = 100000 - i,
                            .error = i == 1 ? 12U : 0U,
                            .last_seen = ten_past - seconds{i}});
    made.top[2].value = std::string(40, 'a') + std::string(40, 'z');
    made.budgets = {{.name = "per-job{job=shop}", .counts = {.series_max = 1000, .series = 1000, .refused = 20}},
                    {.name = "tenant team-a",
                     .window = count_window::day,
                     .observes = true,
                     .counts = {.series_max = 2000, .series = 1700, .refused = 3}},
                    {.name = "tenant team-b", .counts = {.series_max = 2000, .series = 10}}};
    made.refused = {
        {.series = R"(http_requests_total{job="shop",instance="a4:80",trace_id="t4999"})",
         .tenant = "team-a",
         .sender = "10.0.0.3",
         .limit = "per-job",
         .when = ten_past - 3s},
        {.series = "up", .sender = "10.0.0.4", .limit = "global", .window = count_window::day, .when = ten_past - 4s}};
    made.backends = {{.store = "vm:8428", .name = "vm:8428", .is_up = true, .in_flight = 3, .requests = 12345},
                     {.store = "vm:8428", .name = "vm2:8428", .waiting = 2, .requests = 7, .errors = 7}};
    return made;
}

moment at_ten_past(figures known) {
    return {.url = "http://127.0.0.1:9201", .known = std::move(known), .taken = ten_past - 1s, .now = ten_past};
}

std::string text_of(const std::vector<line>& lines) {
    std::string text{"\n"};
    for (const line& each : lines) text += each.text() + "\n";
    return text;
}

std::string shown(const moment& at, const view& seen, screen_size size) {
    const frame made = make_frame(at, seen, size);
    CHECK(made.lines.size() == size.rows);
    for (const line& each : made.lines) CHECK(each.columns() <= size.columns);
    return text_of(made.lines);
}

}  // namespace

TEST_CASE("a screen of 24 lines has some of everything") {
    CHECK(shown(at_ten_past(of_an_explosion()), {}, {.rows = 24, .columns = 80}) == R"(
seriesgate 0.1.0~433  up 2 d 3 h  enforce  http://127.0.0.1:9201    10:10:00 UTC
hour  [#################] 100 %  100,000 of 100,000  refused 81,234  50 min left
day   123,456 new, not limited  refused 0  13 h 50 min left

-- Findings of the hour --------------------------------------------------------
1. label trace_id of http_requests_total has 99,812 values among 100,000 new
   series of job shop, from 10.0.0.3 (Prometheus/3.5.0), since 10:04; 81,234
   were refused
=> New series of the hour by metric (1-5 of 7) =================================
    100,000  metric_0_total                                             10:10:00
     99,999  metric_1_total                                      +/-12  10:09:59
     99,998  aaaaaaaaaaaaaaaaaaaaaaaaaaa...zzzzzzzzzzzzzzzzzzzzzzzzzzz  10:09:58
     99,997  metric_3_total                                             10:09:57
     99,996  metric_4_total                                             10:09:56
-- Budgets nearest to their limit (1-2 of 3) -----------------------------------
hour  per-job{job=shop}       [##########] 100 %  1,000 of 1,000  refused 20
day   tenant team-a           [########--]  85 %  1,700 of 2,000  would refuse 3
-- Refused last ----------------------------------------------------------------
10:09:57  http_requests_total{...",trace_id="t4999"}  per-job/hour...0.3  team-a
10:09:56  up                                                global/day  10.0.0.4
-- Upstream --------------------------------------------------------------------
up    vm:8428  in flight 3  requests 12,345  errors 0
down  vm2:8428 of vm:8428  in flight 0  requests 7  errors 7  waiting 2
 q quit  ? help  m l j s t by  n new r refused  h hour d day  x remedies  Tab
)");
}

TEST_CASE("a larger screen shows more of it") {
    CHECK(shown(at_ten_past(of_an_explosion()), {}, {.rows = 28, .columns = 120}) == R"(
seriesgate 0.1.0~433  up 2 d 3 h  enforce  http://127.0.0.1:9201                                            10:10:00 UTC
hour  [##############################] 100 %  100,000 of 100,000  refused 81,234  50 min left
day   123,456 new, not limited  refused 0  13 h 50 min left

-- Findings of the hour ------------------------------------------------------------------------------------------------
1. label trace_id of http_requests_total has 99,812 values among 100,000 new series of job shop, from 10.0.0.3
   (Prometheus/3.5.0), since 10:04; 81,234 were refused
=> New series of the hour by metric ====================================================================================
    100,000  metric_0_total                                                                                     10:10:00
     99,999  metric_1_total                                                                              +/-12  10:09:59
     99,998  aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaazzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz                   10:09:58
     99,997  metric_3_total                                                                                     10:09:57
     99,996  metric_4_total                                                                                     10:09:56
     99,995  metric_5_total                                                                                     10:09:55
     99,994  metric_6_total                                                                                     10:09:54
-- Budgets nearest to their limit --------------------------------------------------------------------------------------
hour  per-job{job=shop}                                               [##########] 100 %  1,000 of 1,000  refused 20
day   tenant team-a                                                   [########--]  85 %  1,700 of 2,000  would refuse 3
hour  tenant team-b                                                   [----------]   0 %  10 of 2,000  refused 0
-- Refused last --------------------------------------------------------------------------------------------------------
10:09:57  http_requests_total{job="shop",instance="a4:80",trace_id="t4999"}               per-job/hour  10.0.0.3  team-a
10:09:56  up                                                                                        global/day  10.0.0.4
-- Upstream ------------------------------------------------------------------------------------------------------------
up    vm:8428  in flight 3  requests 12,345  errors 0
down  vm2:8428 of vm:8428  in flight 0  requests 7  errors 7  waiting 2


 q quit  ? help  m l j s t by  n new r refused  h hour d day  x remedies  Tab
)");
}

TEST_CASE("remedies are shown where they are asked for, and scrolled to") {
    view seen{.focus = part::findings, .scroll = 3, .shows_remedies = true};
    CHECK(shown(at_ten_past(of_an_explosion()), seen, {.rows = 24, .columns = 80}) == R"(
seriesgate 0.1.0~433  up 2 d 3 h  enforce  http://127.0.0.1:9201    10:10:00 UTC
hour  [#################] 100 %  100,000 of 100,000  refused 81,234  50 min left
day   123,456 new, not limited  refused 0  13 h 50 min left

=> Findings of the hour (2-11 of 11) ===========================================
   series of job shop, from 10.0.0.3 (Prometheus/3.5.0), since 10:04; 81,234
   were refused
   a rule for metric_relabel_configs or write_relabel_configs:
     - source_labels: [__name__]
       regex: 'http_requests_total'
       target_label: trace_id
       replacement: ''
   for limits of the gate's own file:
     limits:
       - name: http_requests_total
-- New series of the hour by metric (1-1 of 7) ---------------------------------
    100,000  metric_0_total                                             10:10:00
-- Budgets nearest to their limit (1-1 of 3) -----------------------------------
hour  per-job{job=shop}       [##########] 100 %  1,000 of 1,000  refused 20
-- Refused last (1-1 of 2) -----------------------------------------------------
10:09:57  http_requests_total{...",trace_id="t4999"}  per-job/hour...0.3  team-a
-- Upstream (1-1 of 2) ---------------------------------------------------------
up    vm:8428  in flight 3  requests 12,345  errors 0
 q quit  ? help  m l j s t by  n new r refused  h hour d day  x remedies  Tab
)");
    seen.scroll = 1000;
    const frame end = make_frame(at_ten_past(of_an_explosion()), seen, {.rows = 20, .columns = 80});
    CHECK(end.scroll_max == 5);
    CHECK(end.page == 6);
}

TEST_CASE("labels come with how many values they have, and of what") {
    figures known = of_an_explosion();
    known.asked = {.by = "label", .refused = true, .daily = true};
    known.findings.clear();
    known.top = {{.value = "trace_id",
                  .detail = "of http_requests_total, tenant team-a",
                  .values = 99812,
                  .series = 100000,
                  .last_seen = ten_past}};
    known.budgets.clear();
    known.refused.clear();
    known.backends.clear();
    known.mode = "observe";
    CHECK(shown(at_ten_past(known), {}, {.rows = 16, .columns = 80}) == R"(
seriesgate 0.1.0~433  up 2 d 3 h  observe  http://127.0.0.1:9201    10:10:00 UTC
hour  [############] 100 %  100,000 of 100,000  would refuse 81,234  50 min left
day   123,456 new, not limited  would refuse 0  13 h 50 min left

-- Findings of the day ---------------------------------------------------------
nothing has exploded
=> Refused series of the day by label, number of values ========================
     99,812  trace_id  of http_requests_tota...eam-a, 100,000 series    10:10:00
-- Budgets nearest to their limit ----------------------------------------------
no tenant and no group has a limit, or none has come yet
-- Refused last ----------------------------------------------------------------
nothing was refused
-- Upstream --------------------------------------------------------------------
discard: what is admitted goes nowhere

 q quit  ? help  m l j s t by  n new r refused  h hour d day  x remedies  Tab
)");
}

TEST_CASE("a report has all lines, and rules to paste as they are") {
    figures known = of_an_explosion();
    known.findings[0].relabel = "- regex: '" + std::string(100, 'x') + "'\n";
    CHECK(text_of(make_report(at_ten_past(known), 80)) == R"(
seriesgate 0.1.0~433  up 2 d 3 h  enforce  http://127.0.0.1:9201    10:10:00 UTC
hour  [#################] 100 %  100,000 of 100,000  refused 81,234  50 min left
day   123,456 new, not limited  refused 0  13 h 50 min left

Findings of the hour
1. label trace_id of http_requests_total has 99,812 values among 100,000 new
   series of job shop, from 10.0.0.3 (Prometheus/3.5.0), since 10:04; 81,234
   were refused
   a rule for metric_relabel_configs or write_relabel_configs:
     - regex: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'
   for limits of the gate's own file:
     limits:
       - name: http_requests_total

New series of the hour by metric
    100,000  metric_0_total                                             10:10:00
     99,999  metric_1_total                                      +/-12  10:09:59
     99,998  aaaaaaaaaaaaaaaaaaaaaaaaaaa...zzzzzzzzzzzzzzzzzzzzzzzzzzz  10:09:58
     99,997  metric_3_total                                             10:09:57
     99,996  metric_4_total                                             10:09:56
     99,995  metric_5_total                                             10:09:55
     99,994  metric_6_total                                             10:09:54

Budgets nearest to their limit
hour  per-job{job=shop}       [##########] 100 %  1,000 of 1,000  refused 20
day   tenant team-a           [########--]  85 %  1,700 of 2,000  would refuse 3
hour  tenant team-b           [----------]   0 %  10 of 2,000  refused 0

Refused last
10:09:57  http_requests_total{...",trace_id="t4999"}  per-job/hour...0.3  team-a
10:09:56  up                                                global/day  10.0.0.4

Upstream
up    vm:8428  in flight 3  requests 12,345  errors 0
down  vm2:8428 of vm:8428  in flight 0  requests 7  errors 7  waiting 2
)");
}

TEST_CASE("where the gate has more budgets than it lists, it is said of which these are the nearest") {
    figures known = of_an_explosion();
    known.listed = 400;
    const std::string text = shown(at_ten_past(known), {}, {.rows = 24, .columns = 80});
    CHECK(text.find("-- Budgets nearest to their limit, of the 400 with most demand (1-2 of 3) -") !=
          std::string::npos);
}

TEST_CASE("the line of a window names the budget that has less room than the global limit") {
    figures known = of_an_explosion();
    known.hourly = {.series_max = 100000, .series = 60000, .refused = 6422, .end = ten_past + 50min};
    known.hourly.refused_is_exact = false;
    known.budgets[1].observes = false;
    const auto line_of = [&known](std::size_t at, std::size_t columns) {
        return make_frame(at_ten_past(known), {}, {.rows = 24, .columns = columns}).lines[at].text();
    };
    CHECK(line_of(1, 120) ==
          "hour  [###############----------]  60 %  60,000 of 100,000  refused about 6,400  50 min left  100 % in "
          "per-job{job=shop}");
    CHECK(line_of(1, 100) ==
          "hour  [###--]  60 %  60,000 of 100,000  refused about 6,400  50 min left  100 % in per-job{job=shop}");
    CHECK(line_of(1, 80) == "hour   60 %  60,000 of 100,000  refused about 6,400  100 % in per-job{job=shop}");
    CHECK(line_of(2, 80) == "day   123,456 new, not limited  refused 0  85 % in tenant team-a");
    known.budgets.insert(known.budgets.begin(),
                         {.name = "exempt", .refuses = false, .counts = {.series_max = 64, .series = 64}});
    CHECK(line_of(1, 80).ends_with("  100 % in per-job{job=shop}"));
    known.budgets.erase(known.budgets.begin());
    known.budgets[0].counts.series = 599;  // less full
    CHECK(line_of(1, 120).ends_with(" left"));
}

TEST_CASE("what is over is no longer bold, what many share says so, and when samples were last refused") {
    figures known = of_an_explosion();
    known.findings[0].is_over = true;
    known.budgets[0].note = "shared by all groups beyond maxGroups";
    known.last_refused = ten_past - 12min;
    const frame made = make_frame(at_ten_past(known), {}, {.rows = 40, .columns = 80});
    CHECK(made.lines[5].pieces().front().in == tone::faint);
    const std::string text = text_of(made.lines);
    CHECK(text.find("refused 20\n      shared by all groups beyond maxGroups\n") != std::string::npos);
    CHECK(text.find("-- Refused last, 12 min ago ----") != std::string::npos);
}

TEST_CASE("before the first answer it says what it does, and later how old the figures are") {
    moment at{.url = "http://gate:9201", .now = ten_past};
    CHECK(shown(at, {}, {.rows = 6, .columns = 80}) == R"(
seriesgate  http://gate:9201                                        10:10:00 UTC
asking...



 q quit  ? help  m l j s t by  n new r refused  h hour d day  x remedies  Tab
)");
    at.fault = "connecting to 10.0.0.1:9201: Connection refused";
    CHECK(make_frame(at, {}, {.rows = 6, .columns = 80}).lines[1].text() == at.fault);
    at.known = of_an_explosion();
    at.taken = ten_past - 65s;
    CHECK(make_frame(at, {}, {.rows = 24, .columns = 80}).lines[3].text() == at.fault + "; this is from 10:08:55");
    at.fault.clear();
    at.known->clock_in_doubt = true;
    CHECK(make_frame(at, {}, {.rows = 24, .columns = 80}).lines[3].text() ==
          "the clock has leapt by over an hour and is not believed yet");
}

TEST_CASE("a rule too long for the screen does not look whole, and its note is broken into lines") {
    figures known = of_an_explosion();
    known.findings[0].relabel = "- regex: '" + std::string(100, 'x') + "'\n";
    known.findings[0].note = "takes none of " + std::string(80, 'y') + " end";
    const auto text = shown(at_ten_past(known), {.shows_remedies = true}, {.rows = 60, .columns = 80});
    CHECK(text.find("     - regex: '" + std::string(64, 'x') + ">\n") != std::string::npos);
    CHECK(text.find(" end\n") != std::string::npos);
}

TEST_CASE("help names the keys") {
    const std::string text = shown(at_ten_past(of_an_explosion()), {.shows_help = true}, {.rows = 24, .columns = 80});
    for (const char* each : {"m l j s t", "n r", "h d", "x  ", "Tab", "arrows, PgUp", "space", "q, Ctrl-C"})
        CHECK(text.find(each) != std::string::npos);
}

TEST_CASE("any size of a screen is filled and not exceeded") {
    const figures known = of_an_explosion();
    for (std::size_t rows = 1; rows <= 60; ++rows)
        for (const std::size_t columns : {20U, 40U, 79U, 80U, 200U})
            for (const part focus : {part::findings, part::top, part::stores})
                static_cast<void>(shown(at_ten_past(known),
                                        {.focus = focus, .scroll = 2, .shows_remedies = rows % 2 == 0},
                                        {.rows = rows, .columns = columns}));
}

TEST_CASE("hostile texts stay texts, wherever they come from") {
    const std::string hostile = "\x1b[2J\x9b\n\r\xe2\x80\xae\xf3\xa0\x81\x81" + std::string(300, '\x07');
    figures known = of_an_explosion();
    known.version = known.mode = known.shared = hostile;
    known.findings = {{.text = hostile, .relabel = hostile, .limit = hostile}};
    known.top = {{.value = hostile, .detail = hostile, .values = 1, .error = 1}};
    known.budgets = {{.name = hostile,
                      .counts = {.series_max = 1, .series = 18446744073709551615U, .refused = 18446744073709551615U}}};
    known.refused = {{.series = hostile, .tenant = hostile, .sender = hostile, .limit = hostile}};
    known.backends = {{.store = "b" + hostile, .name = hostile}};
    moment at = at_ten_past(known);
    at.url = at.fault = hostile;
    view seen;
    seen.shows_remedies = true;
    std::string text = shown(at, seen, {.rows = 30, .columns = 80}) + text_of(make_report(at, 80));
    std::erase(text, '\n');
    for (const char each : text) CHECK((each >= 0x20 && each < 0x7f));
    CHECK(text.find("\\x1b[2J\\x9b\\x0a\\x0d\\u202e\\U000e0041\\x07") != std::string::npos);
}
