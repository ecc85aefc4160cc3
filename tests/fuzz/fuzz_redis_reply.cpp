// Any bytes as the replies of a Redis, in any pieces: the same replies, or the same end, as from the whole; within
// bounds.
#include <bit>

#include "fleet/store_text.hpp"
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

void look_at(const open_windows& open) {
    for (const std::uint32_t each : {open.buckets.hour, open.buckets.day, open.buckets.before})
        require(each == 0 || std::has_single_bit(each), "buckets that are no power of two");
    require(open.now.time_since_epoch().count() >= 0 && open.hour >= -1, "windows before all time");
}

void look_at(const fed_call& call) {
    std::size_t series = 0;
    for (const fed_run& run : call.runs) {
        require(!run.fingerprints.empty(), "a run without series");
        series += run.fingerprints.size();
        for (const std::uint8_t place : run.budgets) require(place < call.budgets.size(), "a budget that is not there");
    }
    require(series != 0 && series <= call_series_max && series <= call.upto, "no call's series");
}

/// What scripts answer.
void read_as_store(const redisReply& reply) {
    const store_call asked{
        .fingerprints = {1, 2}, .runs = {{.series = 2, .budgets = {0}}}, .budgets = {{.id = 7, .limit = 1}}};
    if (const auto answer = read_answer(reply, asked)) {
        const bool is_decided = answer->status == store_status::decided;
        look_at(answer->windows);
        require(answer->series.size() == (is_decided ? 2 : 0), "decisions about other series");
        require(answer->budgets.size() == (is_decided ? 1 : 0), "counts of other budgets");
        for (const series_decision& each : answer->series) require(each.budget == 0, "refused by no budget");
    }
    if (const auto answer = read_heartbeat_answer(reply)) {
        look_at(answer->state.windows);
        require(answer->gates.size() < reply.elements, "more gates than words");
    }
    if (const auto page = read_feed_page(reply)) {
        require(page->calls.size() <= feed_entries_max, "too many calls");
        std::uint64_t before = 0;
        for (const fed_call& each : page->calls) {
            look_at(each);
            require(each.upto > before && each.upto <= page->state.fed, "series that are not in the feed");
            before = each.upto;
        }
    }
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
    read_as_store(reply);
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
