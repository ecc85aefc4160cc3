/// libFuzzer's mutations of a request, and every second time one that knows the format. Include it in one file a
/// target.
#pragma once

#include <cstring>

#include "fuzz/fuzz_target.hpp"
#include "fuzz/wire_tree.hpp"

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t size_max,
                                               unsigned seed) {
    using namespace seriesgate::testing;
    random_source random{seed};
    if (one_in(random, 2)) return LLVMFuzzerMutate(data, size, size_max);
    auto tree = parse_tree(as_bytes(data, size), message_kind::request);
    if (!tree) return LLVMFuzzerMutate(data, size, size_max);
    mutate(*tree, random);
    const std::string body = to_bytes(*tree);
    if (body.empty() || body.size() > size_max) return LLVMFuzzerMutate(data, size, size_max);
    std::memcpy(data, body.data(), body.size());
    return body.size();
}
