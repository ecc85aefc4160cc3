// Any bytes as a request of remote write 2 for a store that only knows version 1: what the translation holds is what
// the generated classes find in the original.
#include "fuzz/fuzz_target.hpp"
#include "fuzz/random_request_v2.hpp"
#include "fuzz/translation_property.hpp"
#include "fuzz/tree_mutator.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

const message_kind seriesgate::testing::mutated_message = message_kind::request_v2;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const bytes_view body = as_bytes(data, size);
    walk_check check;
    walk_v2(body, check);
    if (!check.accepted) return 0;
    random_source random{size};
    const std::string wrong = check_translation(body, check, random);
    if (!wrong.empty()) found(wrong);
    return 0;
}
