#include "redis/redis_reply.hpp"

#include "redis/redis_client.hpp"
#include "redis/redis_pipeline.hpp"
#include "support/catch.hpp"

using namespace seriesgate;

namespace {

/// The sizes of all replies, an array's elements or a text's bytes.
std::vector<std::size_t> sizes_in(reply_reader& reader, std::string_view text, std::size_t piece_bytes) {
    std::vector<std::size_t> sizes;
    while (!text.empty()) {
        reader.take(text.substr(0, piece_bytes));
        text.remove_prefix(std::min(piece_bytes, text.size()));
        while (const redis_reply reply = reader.next())
            sizes.push_back(reply->type == REDIS_REPLY_ARRAY ? reply->elements : text_of(*reply).size());
    }
    return sizes;
}

std::string fault_of(const std::string& text, std::size_t piece_bytes = 1 << 20) {
    reply_reader reader;
    sizes_in(reader, text, piece_bytes);
    CHECK(reader.next() == nullptr);
    return reader.fault();
}

}  // namespace

TEST_CASE("replies are the same in whatever pieces they come") {
    const std::string text =
        "+OK\r\n*3\r\n:1\r\n$2\r\nab\r\n*-1\r\n$-1\r\n-ERR no\r\n$0\r\n\r\n*0\r\n$5\r\na\r\nbc\r\n";
    for (std::size_t piece = 1; piece <= text.size(); ++piece) {
        reply_reader reader;
        CHECK(sizes_in(reader, text, piece) == std::vector<std::size_t>{2, 3, 0, 6, 0, 0, 5});
        CHECK(reader.fault().empty());
    }
}

TEST_CASE("a reply has bounds: bytes, elements, a line, depth") {
    const auto text_of_size = [](std::size_t size) {
        return std::string{"$"}.append(std::to_string(size)).append("\r\n").append(size, 'x').append("\r\n");
    };
    CHECK(fault_of(text_of_size(reply_reader::bytes_max - 64)) == "");
    CHECK(fault_of(text_of_size(reply_reader::bytes_max + (2 << 20))) == "a reply of more than 16 MiB");
    CHECK(fault_of("$999999999999\r\n") == "");  // nothing is allocated for what has not come
    std::string elements;
    for (std::size_t i = 0; i < reply_reader::elements_max - 1; ++i) elements += ":1\r\n";
    CHECK(fault_of("*262144\r\n" + elements + ":1\r\n*262144\r\n" + elements + ":1\r\n") == "");
    CHECK(fault_of("*262145\r\n") == "a reply of too many elements");
    CHECK(fault_of("*2147483647\r\n") == "a reply of too many elements");
    CHECK(fault_of("*262144\r\n" + elements + "*1\r\n:1\r\n") == "a reply of too many elements");
    CHECK(fault_of("+" + std::string(reply_reader::line_bytes_max - 2, 'x') + "\r\n", 100) == "");
    CHECK(fault_of("+" + std::string(reply_reader::line_bytes_max + 100, 'x'), 100) == "a line of more than 64 KiB");
    const auto nested = [](std::size_t depth) {
        std::string made;
        for (std::size_t i = 0; i < depth; ++i) made += "*1\r\n";
        return made + ":1\r\n";
    };
    CHECK(fault_of(nested(reply_reader::depth_max)) == "");
    CHECK(fault_of(nested(reply_reader::depth_max + 1)) == "a reply that is nested too deep");
    CHECK(fault_of(nested(100000)) == "a reply that is nested too deep");
}

TEST_CASE("after what is no reply nothing is read any more") {
    reply_reader reader;
    reader.take("+good\r\nbad");
    CHECK(reader.next() != nullptr);
    CHECK(reader.next() == nullptr);
    CHECK(reader.fault() == "Protocol error, got \"b\" as reply type byte");
    reader.take("+good\r\n");
    CHECK(reader.next() == nullptr);
}

TEST_CASE("a command's words may have any bytes") {
    CHECK(command_text({"PING"}) == "*1\r\n$4\r\nPING\r\n");
    CHECK(command_text({"SET", "", std::string{"a\0\r\n", 4}}) ==
          std::string{"*3\r\n$3\r\nSET\r\n$0\r\n\r\n$4\r\na\0\r\n\r\n", 29});
}

TEST_CASE("a script's digest is that of its text") {
    CHECK(redis_script{""}.sha1 == "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    CHECK(redis_script{"abc"}.sha1 == "a9993e364706816aba3e25717850c26c9cd0d89d");
}
