#include "fleet/telling_text.hpp"

#include <chrono>

namespace seriesgate {
namespace {

std::vector<std::string> words_of(const claim_terms& terms, const std::string& gate, const store_keys& keys,
                                  bool enters) {
    return {"4",
            keys.head(),
            keys.hour(terms.hour),
            keys.hour(terms.hour - 1),
            keys.untold(terms.hour),
            std::to_string(terms.hour),
            std::to_string(terms.all_rules),
            std::to_string(terms.grace),
            gate,
            enters ? "1" : "0",
            terms.with_day ? "1" : "0",
            terms.server};
}

}  // namespace

std::vector<std::string> enter_words(const claim_terms& terms, const std::string& gate, const store_keys& keys) {
    return words_of(terms, gate, keys, true);
}

std::vector<std::string> leave_words(const claim_terms& terms, const std::string& gate, const store_keys& keys) {
    return words_of(terms, gate, keys, false);
}

result<telling_answer, std::string> read_telling_answer(const redisReply& reply) {
    const std::string unexpected = "an answer that the script does not make";
    if (reply.type != REDIS_REPLY_ARRAY || reply.elements != 3) return unexpected;
    for (std::size_t i = 0; i < reply.elements; ++i)
        if (reply.element[i]->type != REDIS_REPLY_INTEGER) return unexpected;
    const auto state = reply.element[2]->integer;
    if (state < 0 || state > static_cast<int>(telling_state::left)) return unexpected;
    return telling_answer{.now = time_point{std::chrono::seconds{reply.element[0]->integer}} +
                                 std::chrono::microseconds{reply.element[1]->integer},
                          .state = static_cast<telling_state>(state)};
}

}  // namespace seriesgate
