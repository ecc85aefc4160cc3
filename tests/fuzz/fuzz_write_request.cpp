// Any bytes as a request: what the walk accepts, every store's parser reads as the same series, and the labels' hash is
// the one by the book.
#include "fuzz/fuzz_target.hpp"
#include "fuzz/tree_mutator.hpp"
#include "fuzz/walk_property.hpp"
#include "series/label.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

const message_kind seriesgate::testing::mutated_message = message_kind::request;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const bytes_view body = as_bytes(data, size);
    const walk_check check = check_walk(body);
    if (!check.fault.empty()) found(check.fault);

    std::vector<label_view> labels;
    write_request_reader reader{body};
    while (reader.next()) {
        reader.labels(reader.series().record, labels);
        require(to_text(labels, 100).find('\n') == std::string::npos, "a series' text has a line end");
    }
    return 0;
}
