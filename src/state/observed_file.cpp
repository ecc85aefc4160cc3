#include "state/observed_file.hpp"

#include <cstring>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <system_error>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace seriesgate {
namespace {

constexpr std::string_view observed_magic{"SGSEEN1\n"};
constexpr std::size_t sum_bytes = sizeof(std::uint64_t);
constexpr std::size_t header_bytes = observed_magic.size() + sizeof(std::uint32_t) + sizeof(std::uint64_t);

std::uint64_t sum_of(std::string_view text) {
    return XXH3_64bits(text.data(), text.size());
}

}  // namespace

void observed_file::save(const std::function<void(state_encoder&)>& write) {
    std::string text{observed_magic};
    text_sink sink{text};
    state_encoder out{sink};
    out.number(format_version);
    out.number(secret_);
    write(out);
    const std::uint64_t sum = sum_of(text);
    if (sum == saved_) return;
    out.number(sum);
    directory_.replace("observed", [&text](int fd) {
        if (const std::error_code error = write_all(fd, text)) throw std::system_error{error};
        return true;
    });
    saved_ = sum;
}

std::string observed_file::load(const std::function<bool(state_decoder&)>& read) const try {
    const auto refused = [this](std::string_view why) {
        return directory_.path_of("observed").append(": ").append(why);
    };
    const std::optional<std::string> text = directory_.read("observed", bytes_max);
    if (!text) return {};
    if (text->size() < header_bytes + sum_bytes || !text->starts_with(observed_magic))
        return refused("no file of seriesgate's");
    const std::string_view summed = std::string_view{*text}.substr(0, text->size() - sum_bytes);
    std::uint64_t sum = 0;
    std::memcpy(&sum, text->data() + summed.size(), sum_bytes);
    if (sum != sum_of(summed)) return refused("truncated or corrupt");
    text_source source{summed.substr(observed_magic.size())};
    state_decoder in{source};
    if (in.number<std::uint32_t>() != format_version) return refused("of another version of seriesgate");
    if (in.number<std::uint64_t>() != secret_) return refused("made with another secret");
    return read(in) ? std::string{} : refused("has other labels in it, or makes no sense");
} catch (const std::runtime_error& error) {
    return error.what();
}

}  // namespace seriesgate
