#include "config/config_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <utility>

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

std::optional<std::string> read_open(std::FILE* file) {
    std::string text(config_file_bytes_max + 1, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file));
    return std::ferror(file) == 0 ? std::optional{std::move(text)} : std::nullopt;
}

file_fault unreadable() {
    const int why = errno;
    return {"cannot be read: " + std::generic_category().message(why), why == ENOENT};
}

}  // namespace

std::optional<std::string> read_config_file(const std::string& path, std::error_code& error) {
    const std::unique_ptr<std::FILE, file_closer> file{open_file(path)};
    if (file)
        if (auto text = read_open(file.get())) return text;
    error.assign(errno, std::generic_category());
    return std::nullopt;
}

result<std::string, file_fault> read_lasting_file(const std::string& path) {
    const std::unique_ptr<std::FILE, file_closer> file{open_file(path)};
    struct stat about {};
    if (!file || ::fstat(::fileno(file.get()), &about) != 0) return unreadable();
    if (!S_ISREG(about.st_mode))
        return file_fault{"is not a regular file: what comes from a pipe or a device cannot be read again", false};
    auto text = read_open(file.get());
    if (!text) return unreadable();
    return *std::move(text);
}

}  // namespace seriesgate
