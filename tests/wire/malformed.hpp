/// Requests of either version that are wrong at one byte.
#pragma once

#include <initializer_list>

#include "support/catch.hpp"
#include "wire/wire_bytes_v2.hpp"

namespace seriesgate::testing {

/// Wrong at the byte behind `before`.
struct malformed {
    const char* what;
    std::string before;
    std::string wrong;
    wire_errc code;
    std::size_t series = 1;  ///< seen before the error
};

/// Wrong within the records of `path`, innermost first: an outer one is as long as what it holds, so build inside out.
/// @param good a series that stands in front
inline malformed nested_behind(const std::string& good, const char* what, std::initializer_list<std::uint32_t> path,
                               const std::string& inside_before, const std::string& wrong, wire_errc code) {
    std::string before = inside_before;
    std::string all = join({inside_before, wrong});
    for (const auto field : path) {
        const std::string head = tag(field, wire_type::len).append(varint(all.size()));
        before.insert(0, head);
        all.insert(0, head);
    }
    return {what, join({good, before}), all.substr(before.size()), code};
}

/// @param read makes a read_request of a text
void check_malformed(const std::vector<malformed>& examples, const auto& read) {
    for (const auto& [what, before, wrong, code, series] : examples) {
        INFO(what);
        const read_request outcome = read(join({before, wrong}));
        CHECK(outcome.error == code);
        CHECK(outcome.offset == before.size());
        CHECK(outcome.series.size() == series);
    }
}

}  // namespace seriesgate::testing
