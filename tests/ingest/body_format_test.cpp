#include "ingest/body_format.hpp"

#include "support/catch.hpp"

using namespace seriesgate;

TEST_CASE("remote write 2 is told from 1 by the message's name, and goes on in the spelling of stores") {
    struct row {
        const char* type;
        std::string_view goes_on;
    };
    constexpr std::string_view plain = "application/x-protobuf", as_sent{};
    constexpr std::string_view v2 = "application/x-protobuf;proto=io.prometheus.write.v2.Request";
    for (const auto& [type, goes_on] : std::initializer_list<row>{
             {"application/x-protobuf", as_sent},
             {"application/x-protobuf;proto=prometheus.WriteRequest", as_sent},
             {"application/x-protobuf;proto=io.prometheus.write.v2.Request", as_sent},
             {"application/x-protobuf; proto=io.prometheus.write.v2.Request", v2},
             {"application/x-protobuf;proto =io.prometheus.write.v2.Request", v2},
             {"application/x-protobuf;proto=\"io.prometheus.write.v2.Request\"", v2},
             {"application/x-protobuf;PROTO=io.prometheus.write.v2.Request", v2},
             {"Application/X-Protobuf ;\tPROTO = \"prometheus.WriteRequest\" ; charset=utf-8", plain},
             {"application/x-protobuf;proto=io.prometheus.write.v2.Request; charset=utf-8", v2},
             {"application/x-protobuf; proto=prometheus.WriteRequest", plain},
             {"application/x-protobuf;", plain},
             {"application/x-protobuf; charset=utf-8", plain},
             {"application/vnd.google.protobuf", plain},
             {"application/vnd.google.protobuf; charset=utf-8", plain},
             {"", plain}}) {
        http::fields headers;
        headers.set(http::field::content_type, type);
        headers.set("X-Prometheus-Remote-Write-Version", "2.0.0");  // says nothing
        const body_format found = body_format_of(headers, {});
        CHECK(found.fault == "");
        CHECK(found.version ==
              (std::string_view{type}.find(".v2.") == std::string_view::npos ? protocol::v1 : protocol::v2));
        CHECK(found.content_type == goes_on);
    }
}

TEST_CASE("which compression it is, the body says, and what goes on fits it") {
    struct row {
        const char* said;  // null: no header
        bytes_view body;
        compression is;
        std::string_view goes_on;
    };
    constexpr auto snappy = compression::snappy, zstd = compression::zstd;
    constexpr bytes_view frame{"\x28\xb5\x2f\xfd\x04", 5}, skipped{"\x5f\x2a\x4d\x18\x00", 5}, block{"\x00", 1},
        block_of_40{"\x28\x9c", 2}, block_of_80{"\x50\x9c\x4d\x18", 4};
    for (const auto& [said, body, is, goes_on] : std::initializer_list<row>{{"zstd", frame, zstd, ""},
                                                                            {"snappy", frame, zstd, "zstd"},
                                                                            {nullptr, frame, zstd, "zstd"},
                                                                            {"", frame, zstd, "zstd"},
                                                                            {"snappy", skipped, zstd, "zstd"},
                                                                            {"snappy", block, snappy, ""},
                                                                            {"zstd", block, snappy, "snappy"},
                                                                            {nullptr, block, snappy, ""},
                                                                            {"", block, snappy, "snappy"},
                                                                            {"zstd", block_of_40, snappy, "snappy"},
                                                                            {"zstd", block_of_80, snappy, "snappy"},
                                                                            {"Snappy", block, snappy, "snappy"},
                                                                            {" ZSTD,", frame, zstd, "zstd"},
                                                                            {",snappy", block, snappy, "snappy"},
                                                                            {"zstd", {}, zstd, ""},
                                                                            {" ZSTD ", {}, zstd, "zstd"},
                                                                            {nullptr, {}, snappy, ""},
                                                                            {"snappy", {}, snappy, ""}}) {
        http::fields headers;
        if (said != nullptr) headers.set(http::field::content_encoding, said);
        const body_format found = body_format_of(headers, body);
        CHECK(found.fault == "");
        CHECK(found.coding == is);
        CHECK(found.content_encoding == goes_on);
    }
}

TEST_CASE("other types, messages and encodings are not readable") {
    const char* const usual = "application/x-protobuf";
    for (const auto& [type, encoding] : std::initializer_list<std::pair<const char*, const char*>>{
             {"application/json", "snappy"},
             {"application/x-protobuf2", "snappy"},
             {"application/x-protobuf;proto=io.prometheus.write.v3.Request", "snappy"},
             {"application/x-protobuf;proto=prometheus.WriteRequest;proto=prometheus.WriteRequest", "snappy"},
             {"application/x-protobuf;proto=", "snappy"},
             {usual, "gzip"},
             {usual, "snappy, gzip"},
             {usual, "snappy, snappy"}}) {
        http::fields headers;
        headers.set(http::field::content_type, type);
        headers.set(http::field::content_encoding, encoding);
        CHECK_FALSE(body_format_of(headers, {}).fault.empty());
    }
}

TEST_CASE("two statements about one body are a fault, even if they agree") {
    http::fields types;
    types.insert(http::field::content_type, "application/x-protobuf");
    types.insert(http::field::content_type, "application/x-protobuf");
    CHECK(body_format_of(types, {}).fault == "more than one Content-Type");
    http::fields encodings;
    encodings.insert(http::field::content_encoding, "snappy");
    encodings.insert(http::field::content_encoding, "zstd");
    CHECK(body_format_of(encodings, {}).fault == "more than one Content-Encoding");
}

TEST_CASE("a fault says what was there") {
    http::fields headers;
    headers.set(http::field::content_encoding, "gzip");
    CHECK(body_format_of(headers, {}).fault ==
          "unsupported Content-Encoding: remote write wants snappy, or zstd, not gzip");
    headers.set(http::field::content_type, "application/x-protobuf;proto=a.B");
    CHECK(body_format_of(headers, {}).fault ==
          "unsupported protobuf message in Content-Type: remote write is prometheus.WriteRequest or "
          "io.prometheus.write.v2.Request, not a.B");
    headers.set(http::field::content_type, "text/plain");
    CHECK(body_format_of(headers, {}).fault ==
          "unsupported Content-Type: remote write wants application/x-protobuf, not text/plain");
}
