#include "ingest/texts.hpp"

#include "ingest/requests.hpp"
#include "limit/limiter.hpp"
#include "support/captured_log.hpp"
#include "support/catch.hpp"
#include "wire/wire_error.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace left_out_test {
namespace {

struct planned {
    series_limiter limiter{limit_rules{}, noon};
    planner planning{hash_key::known_to_all()};
    std::string body;
    plan decided{};

    explicit planned(std::string text, protocol version = protocol::v1) : body(std::move(text)) {
        const auto made = planning(body, limiter, noon, "", version);
        REQUIRE(made.has_value());
        decided = *made;
    }
    std::string text() { return left_out_text(decided, planning); }
    void log(left_out_logs& to) {
        log_left_out({.decided = decided, .planning = planning, .sender = "10.0.0.7", .tenant = "shop"}, to);
    }
};

const std::string too_long(label_bytes_max + 1, 'x');

std::string annotated(std::string_view metric) {
    return series({label("__name__", metric), label("annotation_a", "1"), label("annotation_b", too_long), sample(1)});
}

}  // namespace

TEST_CASE("nothing is said of a request of which nothing was left out") {
    CHECK(planned{body_v1({"a"})}.text().empty());
}

TEST_CASE("each fault is named with the first series that has it, by metric and label") {
    planned of{body_v1({"a"}) + annotated("kube_a") + annotated("kube_b") +
               series({label("__name__", "up"), label("", "x"), sample(1)}) +
               series({label("", "nobody"), sample(1), sample(2)})};
    CHECK(of.text() ==
          "left out 4 series (5 samples): 2 with a label without a name, the first up; 2 with a label name or value of "
          "more than 262144 bytes, the first kube_a, its label annotation_b");
}

TEST_CASE("a series without a metric's name is shown by its labels") {
    CHECK(planned{series({label("", "nobody"), label("job", "a"), sample(1)})}.text() ==
          "left out 1 series (1 sample): 1 with a label without a name, the first {=\"nobody\",job=\"a\"}");
}

TEST_CASE("of version 2, the name without a value is named") {
    const std::string odd = len_field(5, len_field(1, varint(1) + varint(2) + varint(3)) + sample(1));
    CHECK(planned{symbols_v2({"a"}) + odd, protocol::v2}.text() ==
          "left out 1 series (1 sample): 1 with an odd number of label references: a name without a value, the first "
          "up, its label job");
}

TEST_CASE("what is shown is short and safe, whatever was sent") {
    const std::string name = "\x1b[31m" + std::string(1000, 'n');
    planned of{series({label("__name__", name), label(too_long, "v"), sample(1)})};
    CHECK(of.text().size() < 600);
    CHECK(of.text().find('\x1b') == std::string::npos);
}

TEST_CASE("the log has a line for each fault, and the figures count them all") {
    planned of{annotated("kube_a") + annotated("kube_b") + series({label("", "x"), sample(1)})};
    left_out_logs log;
    log::set_up(log::format::logfmt, log::level::warn);
    const captured_log lines;
    of.log(log);
    of.log(log);
    const std::string text = lines.text();
    CHECK(text.starts_with(
        "level=warn msg=\"series left out\" series=1 reason=label_without_name metric=\"\" label=\"\" "
        "sender=10.0.0.7 tenant=shop example=\"{=\\\"x\\\"}\"\nlevel=warn msg=\"series left out\" series=2 "
        "reason=label_too_long metric=kube_a label=annotation_b sender=10.0.0.7 tenant=shop "
        "example=\"kube_a{annotation_a="));
    CHECK(std::ranges::count(text, '\n') == 2);
    ingest_metrics metrics;
    count_left_out(of.decided, metrics);
    CHECK(metrics.series_left_out[series_fault::label_too_long].value() == 2);
    CHECK(metrics.series_left_out[series_fault::label_without_name].value() == 1);
    CHECK(metrics.samples_left_out.value() == 3);
}

}  // namespace left_out_test
