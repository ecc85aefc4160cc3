#include "fleet/share_text.hpp"

#include <chrono>
#include <cstddef>

#include "claim/reserve.hpp"

namespace seriesgate {

std::vector<std::string> share_words(const claim_terms& terms, const std::string& gate, const store_keys& keys) {
    return {"2",
            keys.head(),
            keys.shares(day_of_hour(terms.hour)),
            std::to_string(terms.hour),
            std::to_string(terms.all_rules),
            gate,
            std::to_string(shares_max),
            terms.server};
}

result<share_answer, std::string> read_share_answer(const redisReply& reply) {
    const std::string unexpected = "an answer that the script does not make";
    if (reply.type != REDIS_REPLY_ARRAY || reply.elements != 4) return unexpected;
    for (std::size_t i = 0; i < reply.elements; ++i)
        if (reply.element[i]->type != REDIS_REPLY_INTEGER) return unexpected;
    const auto state = reply.element[2]->integer;
    const auto number = reply.element[3]->integer;
    if (state < 0 || state > static_cast<int>(share_state::of_day)) return unexpected;
    if (number < 0 || number > static_cast<int>(shares_max)) return unexpected;
    return share_answer{.now = time_point{std::chrono::seconds{reply.element[0]->integer}} +
                               std::chrono::microseconds{reply.element[1]->integer},
                        .state = static_cast<share_state>(state),
                        .number = static_cast<std::uint64_t>(number)};
}

}  // namespace seriesgate
