// Any bytes as a request of remote write 2: what the walk accepts, libprotobuf and gogo read as the same series, a
// splice keeps the others untouched, and the labels' hash is the one by the book. For a store that only knows version 1
// the translation holds what the generated classes find in the original.
#include "fuzz/fuzz_target.hpp"
#include "fuzz/translation_property.hpp"
#include "fuzz/tree_mutator.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

const message_kind seriesgate::testing::mutated_message = message_kind::request_v2;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const bytes_view body = as_bytes(data, size);
    const walk_check check = check_walk_v2(body);
    if (!check.fault.empty()) found(check.fault);
    if (!check.accepted) return 0;
    random_source random{size};
    for (const auto& property : {check_splice_v2, check_translation})
        if (const std::string wrong = property(body, check, random); !wrong.empty()) found(wrong);
    return 0;
}
