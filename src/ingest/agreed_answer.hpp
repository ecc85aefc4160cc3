/// What a sender is told whose request went to several stores.
#pragma once

#include <vector>

#include "http/reply.hpp"

namespace seriesgate {

/// The first store's answer; but if that is a success and one of the others' is not, that one's. An error that heals by
/// itself (5xx, 429) comes before one that does not, whoever it is of: the sender comes again for as long as one of
/// them may yet take what it has sent, and drops it only when none will. Of remote write 2 they say together that as
/// much is written as by the one that has written least; nothing, if one of them does not say.
/// @param others of the stores that have to have it, too.
reply agreed_answer(reply first, std::vector<reply> others);

}  // namespace seriesgate
