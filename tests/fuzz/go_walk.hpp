/// How the stores' parsers, written in Go, read a request: a simple walk of our own with their rules.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "fuzz/seen_request.hpp"

namespace seriesgate::testing {

enum class go_parser {
    gogo,       ///< gogo/protobuf's generated code: Prometheus, Cortex, Mimir, Thanos
    easyproto,  ///< VictoriaMetrics
};

/// One field as a Go parser takes it.
struct go_field {
    std::uint64_t number = 0;
    unsigned type = 0;
    std::uint64_t value = 0;   ///< of a varint or fixed64
    std::string_view payload;  ///< of a length-delimited field
};

/// Lenient where they are: tags and lengths may be padded to ten bytes, gogo cuts field numbers to 32 bits and skips
/// groups, easyproto takes field number 0 for an unknown field.
/// Source: gogo/protobuf protoc-gen-gogo/generator unmarshal templates as in prometheus prompb/types.pb.go;
/// VictoriaMetrics/easyproto reader.go.
class go_cursor {
    std::string_view rest_;
    go_parser parser_;
    bool failed_ = false;

  public:
    go_cursor(std::string_view message, go_parser parser) : rest_{message}, parser_{parser} {}

    [[nodiscard]] bool failed() const { return failed_; }

    bool next(go_field& field) {
        if (failed_ || rest_.empty()) return false;
        std::uint64_t tag = 0;
        if (!read_varint(tag)) return fail();
        field.type = tag & 7;
        field.number = tag >> 3;
        if (parser_ == go_parser::gogo) {
            const auto number = static_cast<std::int32_t>(static_cast<std::uint32_t>(field.number));
            if (number <= 0 || field.type == 4) return fail();
            field.number = static_cast<std::uint64_t>(number);
        } else if (field.number > UINT32_MAX) {
            return fail();
        }
        return read_value(field) || fail();
    }

    bool fail() {
        failed_ = true;
        return false;
    }

  private:
    bool read_value(go_field& field) {
        switch (field.type) {
            case 0:
                return read_varint(field.value);
            case 1:
                return read_fixed64(field.value);
            case 2:
                return read_varint(field.value) && take(field.value, field.payload);
            case 3:
                return parser_ == go_parser::gogo && skip_group();
            case 5:
                return take(4, field.payload);
            default:
                return false;
        }
    }

    bool read_varint(std::uint64_t& value) {
        value = 0;
        for (unsigned shift = 0; !rest_.empty() && shift < 70; shift += 7) {
            const auto byte = static_cast<unsigned char>(rest_.front());
            rest_.remove_prefix(1);
            value |= std::uint64_t{byte & 0x7fu} << shift;
            if (byte < 0x80) return shift < 63 || byte <= 1 || parser_ == go_parser::gogo;
        }
        return false;
    }

    bool read_fixed64(std::uint64_t& value) {
        if (rest_.size() < 8) return false;
        value = 0;
        for (unsigned i = 0; i < 8; ++i) value |= std::uint64_t{static_cast<unsigned char>(rest_[i])} << (8 * i);
        rest_.remove_prefix(8);
        return true;
    }

    bool take(std::uint64_t size, std::string_view& bytes) {
        if (size > rest_.size()) return false;
        bytes = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return true;
    }

    /// To the end tag on the same depth; the numbers of start and end are not compared.
    bool skip_group() {
        for (int depth = 1; depth > 0;) {
            std::uint64_t tag = 0;
            if (rest_.empty() || !read_varint(tag)) return false;
            go_field inner;
            inner.type = static_cast<unsigned>(tag & 7);
            if (inner.type == 3) {
                ++depth;
            } else if (inner.type == 4) {
                --depth;
            } else if (!read_value(inner)) {
                return false;
            }
        }
        return true;
    }
};

/// Calls `take(field)` for each field; false from it, or bytes that are no fields, make the message wrong.
template <class Take>
bool for_each_go_field(std::string_view message, go_parser parser, Take take) {
    go_cursor cursor{message, parser};
    for (go_field field; cursor.next(field); field = {})
        if (!take(field)) return false;
    return !cursor.failed();
}

inline bool go_label(std::string_view message, go_parser parser, seen_series& series) {
    auto& label = series.labels.emplace_back();
    return for_each_go_field(message, parser, [&](const go_field& field) {
        if (field.number == 1) label.first = field.payload;
        if (field.number == 2) label.second = field.payload;
        return field.number > 2 || field.number == 0 || field.type == 2;
    });
}

/// A sample or a histogram, of which only the number that tells a stale marker matters.
inline bool go_stale(std::string_view message, go_parser parser, std::uint64_t number, seen_series& series) {
    std::uint64_t bits = 0;
    const bool right = for_each_go_field(message, parser, [&](const go_field& field) {
        if (field.number == number) bits = field.value;
        return field.number != number || field.type == 1;
    });
    if (bits != 0x7ff0000000000002) series.admits = true;
    return right;
}

/// A sample, a histogram or an exemplar. @param histograms the number of their field, which differs between versions.
inline bool go_data(const go_field& field, go_parser parser, std::uint64_t histograms, seen_series& series) {
    if (field.number == 2) {
        ++series.samples;
        return go_stale(field.payload, parser, 1, series);
    }
    if (field.number == histograms) {
        ++series.histograms;
        return go_stale(field.payload, parser, 3, series);
    }
    ++series.exemplars;
    return true;
}

inline bool go_series(std::string_view message, go_parser parser, seen_series& series) {
    return for_each_go_field(message, parser, [&](const go_field& field) {
        if (field.number == 0 || field.number > 4) return true;
        if (field.type != 2) return false;
        return field.number == 1 ? go_label(field.payload, parser, series) : go_data(field, parser, 4, series);
    });
}

/// @return nothing if the parser refuses the request.
inline std::optional<seen_request> seen_by_go(std::string_view body, go_parser parser) {
    seen_request request;
    const bool right = for_each_go_field(body, parser, [&](const go_field& field) {
        if (field.number != 1 && field.number != 3) return true;
        if (field.type != 2) return false;
        if (field.number == 1) return go_series(field.payload, parser, request.series.emplace_back());
        ++request.metadata;
        return true;
    });
    if (!right) return std::nullopt;
    return request;
}

}  // namespace seriesgate::testing
