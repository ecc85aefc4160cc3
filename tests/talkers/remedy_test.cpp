#include "talkers/remedy.hpp"

#include "support/catch.hpp"

using namespace seriesgate;

namespace {

finding trace_ids() {
    return {.label = "trace_id", .metrics = {"http_requests_total"}, .series = 100'000, .values = {.values = 99'812}};
}

}  // namespace

TEST_CASE("a label that has exploded is dropped from its metrics, and they get a limit") {
    const remedy made = remedy_of(trace_ids());
    CHECK(made.relabel ==
          "- source_labels: [__name__]\n"
          "  regex: 'http_requests_total'\n"
          "  target_label: trace_id\n"
          "  replacement: ''\n");
    CHECK(made.limit ==
          "limits:\n"
          "  - name: http_requests_total\n"
          "    match: '{__name__=~\"http_requests_total\"}'\n"
          "    maxHourlySeries: 1000\n");
}

TEST_CASE("several metrics are one rule, and what a regular expression means is what it says") {
    finding found = trace_ids();
    found.metrics = {"a.b", "it's", "c"};
    found.tenant = "team-a";
    found.series = 1'000'000;
    found.values.values = 100;
    const remedy made = remedy_of(found);
    CHECK(made.relabel.find("  regex: 'a\\.b|it''s|c'\n") != std::string::npos);
    CHECK(made.limit ==
          "limits:\n"
          "  - name: a-b\n"
          "    match: '{__name__=~\"a\\\\.b|it''s|c\"}'\n"
          "    maxHourlySeries: 20000\n"
          "    perTenant: true\n");
}

TEST_CASE("buckets and names with numbers are dropped") {
    CHECK(remedy_of({.what = explosion::buckets, .label = "le", .metrics = {"x_bucket"}}).relabel ==
          "- source_labels: [__name__]\n  regex: 'x_bucket'\n  action: drop\n");
    CHECK(remedy_of({.what = explosion::metric_names, .label = "__name__", .metrics = {"user_#_total"}}).relabel ==
          "- source_labels: [__name__]\n  regex: 'user_[0-9a-fA-F]+_total'\n  action: drop\n");
}

TEST_CASE("what no configuration can say has no remedy") {
    finding found = trace_ids();
    found.label = "trace\nid: x";
    CHECK(remedy_of(found).relabel.empty());
    found = trace_ids();
    found.metrics = {"a\x80"};
    CHECK(remedy_of(found).relabel.empty());
    CHECK(remedy_of(found).limit.empty());
    found.metrics = {"a\x80", "b"};
    CHECK(remedy_of(found).relabel.find("regex: 'b'") != std::string::npos);
    found.metrics = {"a\r\nb"};
    CHECK(remedy_of(found).limit.empty());
    found.metrics = {
        "a\xe2\x80\xae"
        "b"};  // the rest would be read from right to left
    CHECK(remedy_of(found).limit.empty());
}
