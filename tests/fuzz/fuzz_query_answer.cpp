// Answers of a query API: the first byte says in which pieces the rest arrives. The pieces change nothing.
#include <string>
#include <vector>

#include "fuzz/fuzz_target.hpp"
#include "series/query_answer.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

struct reading {
    std::vector<std::string> found;
    bool is_sound = false;
    std::string error, warning;

    bool operator==(const reading&) const = default;
};

reading read(bytes_view answer, std::size_t piece) {
    reading made;
    query_answer reader{[&](std::span<const label_view> labels) {
                            require(!labels.empty(), "a series without labels");
                            for (std::size_t i = 0; i < labels.size(); ++i) {
                                require(!labels[i].value.empty(), "an empty label");
                                require(i == 0 || labels[i - 1].name < labels[i].name, "labels that are not sorted");
                            }
                            made.found.push_back(to_text(labels));
                        },
                        [&](std::string_view text) { made.found.emplace_back(text); }};
    while (!answer.empty()) {
        const bytes_view part = answer.substr(0, piece);
        answer.remove_prefix(part.size());
        if (!reader.write(part)) break;
    }
    made.is_sound = reader.fault().empty();  // how an error is worded depends on the piece
    made.error = reader.error();
    made.warning = reader.warning();
    return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const bytes_view answer{reinterpret_cast<const char*>(data + 1), size - 1};
    require(read(answer, answer.size()) == read(answer, 1 + data[0] % 64), "another answer in other pieces");
    return 0;
}
