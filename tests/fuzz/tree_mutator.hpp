/// libFuzzer's mutations of a request, and every second time one that knows the format: what a target's
/// LLVMFuzzerCustomMutator calls.
#pragma once

#include "fuzz/fuzz_target.hpp"
#include "fuzz/wire_tree.hpp"

namespace seriesgate::testing {

inline std::size_t mutate_request(std::uint8_t* data, std::size_t size, std::size_t size_max, unsigned seed,
                                  message_kind kind) {
    random_source random{seed};
    if (one_in(random, 2)) return LLVMFuzzerMutate(data, size, size_max);
    auto tree = parse_tree(as_bytes(data, size), kind);
    if (!tree) return LLVMFuzzerMutate(data, size, size_max);
    mutate(*tree, random);
    const std::string body = to_bytes(*tree);
    if (body.empty() || body.size() > size_max) return LLVMFuzzerMutate(data, size, size_max);
    std::memcpy(data, body.data(), body.size());
    return body.size();
}

}  // namespace seriesgate::testing
