#include "config/config_file.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cstdio>
#include <memory>

namespace seriesgate {
namespace {

struct file_closer {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

// Opening a pipe that nobody writes to would wait for ever; so it is an empty file. One with a writer is read to its
// end.
std::FILE* open_file(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return nullptr;
    ::fcntl(descriptor, F_SETFL, O_RDONLY);
    return ::fdopen(descriptor, "rb");
}

}  // namespace

std::optional<std::string> read_config_file(const std::string& path, std::error_code& error) {
    const std::unique_ptr<std::FILE, file_closer> file{open_file(path)};
    if (file) {
        std::string text(config_file_bytes_max + 1, '\0');
        text.resize(std::fread(text.data(), 1, text.size(), file.get()));
        if (std::ferror(file.get()) == 0) return text;
    }
    error.assign(errno, std::generic_category());
    return std::nullopt;
}

}  // namespace seriesgate
