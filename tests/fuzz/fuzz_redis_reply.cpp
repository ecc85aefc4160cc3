// Any bytes as the replies of a Redis, in any pieces: the same replies, or the same end, as from the whole; within
// bounds.
#include "claim/claim.hpp"
#include "fleet/feed_text.hpp"
#include "fuzz/fuzz_target.hpp"
#include "fuzz/pieces.hpp"
#include "redis/redis_reply.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

struct seen {
    std::size_t elements = 0;
    std::size_t depth = 0;
    std::string text;  ///< all of it
};

void look_at(const redisReply& reply, std::size_t depth, seen& all) {
    all.depth = std::max(all.depth, depth);
    all.text += static_cast<char>('0' + reply.type);
    if (reply.type == REDIS_REPLY_INTEGER) all.text += std::to_string(reply.integer);
    all.text += text_of(reply);
    if (reply.type != REDIS_REPLY_ARRAY) return;
    all.elements += reply.elements;
    all.text += std::to_string(reply.elements);
    for (std::size_t i = 0; i < reply.elements; ++i) look_at(*reply.element[i], depth + 1, all);
}

/// What else reads replies takes any.
void read_as_answers(const redisReply& reply) {
    const host_port asked{"node.test", 7000};
    if (const auto master = sentinel_master(reply)) require(master->port != 0 && !master->host.empty(), "no address");
    const std::vector<host_port> nodes = cluster_nodes(reply, asked);
    require(nodes.size() <= cluster_nodes_max, "too many nodes");
    for (const host_port& each : nodes) require(each.port != 0 && !each.host.empty(), "a node without an address");
    static_cast<void>(role_in(reply));
    static_cast<void>(info_field(text_of(reply), "run_id"));
    if (const auto fed = read_feed_answer(reply)) {
        require(fed->claims.size() <= fed_claims_max, "too many claims");
        for (const fed_claim& each : fed->claims) {
            require(!each.fingerprints.empty() && each.fingerprints.size() <= claimed_series_max, "no claim's series");
            require(each.upto <= fed->series && each.fingerprints.size() <= each.upto, "more series than there are");
        }
    }
    if (reply.type != REDIS_REPLY_ERROR) return;
    const redis_error error = error_of_reply(text_of(reply));
    require(error.text.size() <= redis_error_bytes_max, "a long error");
    require(error.text.find_first_of("\r\n") == std::string::npos, "an error of several lines");
    if (const auto to = redirection_in(error, asked)) require(to->to.port != 0 && !to->to.host.empty(), "to nowhere");
}

void take_all(reply_reader& reader, std::string_view bytes, std::string& read) {
    reader.take(bytes);
    while (const redis_reply reply = reader.next()) {
        seen all;
        look_at(*reply, 0, all);
        require(all.elements <= reply_reader::elements_max, "too many elements");
        require(all.depth <= reply_reader::depth_max, "too deep");
        read_as_answers(*reply);
        read += all.text + '\n';
    }
    require(reader.fault().find('\n') == std::string::npos, "a fault of several lines");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    pieces input{as_bytes(data, size)};
    reply_reader at_once, in_pieces;
    std::string read_at_once, read_in_pieces;
    take_all(at_once, input.all(), read_at_once);
    while (!input.empty()) take_all(in_pieces, input.next(), read_in_pieces);
    require(read_at_once == read_in_pieces, "pieces change what is read");
    if (size < reply_reader::line_bytes_max) require(at_once.fault() == in_pieces.fault(), "pieces change the fault");
    return 0;
}
