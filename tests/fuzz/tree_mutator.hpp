/// libFuzzer's mutations of a request, and every second time one that knows the format. For one file of a target, which
/// says what its inputs are.
#pragma once

#include "fuzz/fuzz_target.hpp"
#include "fuzz/wire_tree.hpp"

namespace seriesgate::testing {

extern const message_kind mutated_message;

}  // namespace seriesgate::testing

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t size_max, unsigned seed) {
    using namespace seriesgate::testing;
    random_source random{seed};
    if (one_in(random, 2)) return LLVMFuzzerMutate(data, size, size_max);
    auto tree = parse_tree(as_bytes(data, size), mutated_message);
    if (!tree) return LLVMFuzzerMutate(data, size, size_max);
    mutate(*tree, random);
    const std::string body = to_bytes(*tree);
    if (body.empty() || body.size() > size_max) return LLVMFuzzerMutate(data, size, size_max);
    std::memcpy(data, body.data(), body.size());
    return body.size();
}
