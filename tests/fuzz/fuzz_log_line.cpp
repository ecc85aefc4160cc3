// A log line: the message up to the first null byte, the rest a value. Boost.JSON reads the JSON form as the same
// texts, and the logfmt form has the same keys and values in the same order.
#include <boost/json/parse.hpp>

#include "base/log.hpp"
#include "core/text.hpp"
#include "fuzz/fuzz_target.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

/// What a value is shown as: bytes that are no UTF-8 in four characters.
std::string shown(bytes_view text) {
    constexpr char digits[] = "0123456789abcdef";
    std::string out;
    while (!text.empty()) {
        const std::size_t size = utf8_size(text);
        const auto byte = static_cast<unsigned char>(text.front());
        if (size == 0) {
            out.append("\\x").append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
        } else {
            out += text.substr(0, size);
        }
        text.remove_prefix(size == 0 ? 1 : size);
    }
    return out;
}

/// Takes `key=value ` from the front. @return the value without quotes and escapes.
std::string take_logfmt(std::string& line, const std::string& key) {
    require(line.starts_with(key + "="), "a key is not where it belongs");
    line.erase(0, key.size() + 1);
    std::size_t end = line.find(' ');
    std::string value = line.substr(0, end);
    if (line.starts_with('"')) {
        end = 1;
        while (end < line.size() && line[end] != '"') end += line[end] == '\\' ? 2 : 1;
        require(end < line.size(), "a quote that is not closed");
        value = std::string{boost::json::parse(line.substr(0, ++end)).as_string()};
    }
    line.erase(0, end == std::string::npos ? end : end + 1);
    return value;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const bytes_view all{reinterpret_cast<const char*>(data), size};
    const bytes_view message = all.substr(0, all.find('\0'));
    const bytes_view value = all.substr(std::min(all.size(), message.size() + 1));
    const log::field fields[]{{"first", value}, {"n", 7}, {"last", message}};

    const std::string json = log::line_of(log::format::json, log::level::warn, {}, message, fields);
    const auto read = boost::json::parse(json).as_object();
    require(read.at("msg").as_string() == shown(message) && read.at("last").as_string() == shown(message),
            "JSON: another message");
    require(read.at("first").as_string() == shown(value) && read.at("n").as_int64() == 7, "JSON: another value");
    require(read.size() == 6, "JSON: another number of keys");

    std::string line = log::line_of(log::format::logfmt, log::level::warn, {}, message, fields);
    for (const std::string& text : {json, line}) {
        require(is_utf8(text), "no UTF-8");
        for (const char c : text) require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f, "a control character");
        require(text.find("\xc2\x9b") == std::string::npos, "an order to a terminal");
    }
    require(take_logfmt(line, "ts") == "1970-01-01T00:00:00.000Z" && take_logfmt(line, "level") == "warn",
            "another head");
    require(take_logfmt(line, "msg") == shown(message), "logfmt: another message");
    require(take_logfmt(line, "first") == shown(value) && take_logfmt(line, "n") == "7", "logfmt: another value");
    require(take_logfmt(line, "last") == shown(message) && line.empty(), "logfmt: another end");
    return 0;
}
