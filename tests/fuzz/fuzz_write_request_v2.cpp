// Any bytes as a request of remote write 2: what the walk accepts, libprotobuf and gogo read as the same series, a
// splice keeps the others untouched, and the labels' hash is the one by the book.
#include "fuzz/fuzz_target.hpp"
#include "fuzz/random_request_v2.hpp"
#include "fuzz/tree_mutator.hpp"
#include "fuzz/walk_property_v2.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

const message_kind seriesgate::testing::mutated_message = message_kind::request_v2;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const bytes_view body = as_bytes(data, size);
    const walk_check check = check_walk_v2(body);
    if (!check.fault.empty()) found(check.fault);
    if (check.accepted) {
        random_source random{size};
        const std::string wrong = check_splice_v2(body, check, random);
        if (!wrong.empty()) found(wrong);
    }
    return 0;
}
