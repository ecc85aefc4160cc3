#include "state/secret_file.hpp"

#include <sys/random.h>

#include <cassert>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <system_error>

#include "core/counted.hpp"
#include "series/hash_key.hpp"

namespace seriesgate {
namespace {

constexpr std::string_view file_name{"secret"};
constexpr std::size_t secret_bytes_max = 64 * 1024;

std::string checked(std::string secret, const std::string& file) {
    if (secret.size() >= hash_key::random_bytes_min) return secret;
    throw std::runtime_error(file + ": a secret of " + counted(secret.size(), "byte") + ", at least " +
                             std::to_string(hash_key::random_bytes_min) + " are needed");
}

struct file_closer {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

}  // namespace

std::string random_secret() {
    std::string secret(hash_key::random_bytes_min, '\0');
    for (std::size_t at = 0; at < secret.size();) {
        const ssize_t got = ::getrandom(secret.data() + at, secret.size() - at, 0);
        if (got < 0 && errno != EINTR)
            throw std::runtime_error("no random bytes: " + std::generic_category().message(errno));
        at += got < 0 ? 0 : static_cast<std::size_t>(got);
    }
    assert(secret.size() >= hash_key::random_bytes_min);
    return secret;
}

std::string read_secret(const std::string& path) {
    const std::unique_ptr<std::FILE, file_closer> file{std::fopen(path.c_str(), "rb")};
    std::string secret(secret_bytes_max + 1, '\0');
    if (file) secret.resize(std::fread(secret.data(), 1, secret.size(), file.get()));
    if (!file || std::ferror(file.get()) != 0)
        throw std::runtime_error("fingerprint.secretFile: cannot read " + path + ": " +
                                 std::generic_category().message(errno));
    if (secret.size() > secret_bytes_max) throw std::runtime_error("fingerprint.secretFile: " + path + ": too long");
    return checked(std::move(secret), "fingerprint.secretFile: " + path);
}

std::string kept_secret(const state_directory& directory) {
    if (auto secret = directory.read(file_name, secret_bytes_max))
        return checked(std::move(*secret), "state.dir: " + directory.path_of(file_name));
    std::string secret = random_secret();
    keep_secret(directory, secret);
    return secret;
}

void keep_secret(const state_directory& directory, const std::string& secret) {
    assert(secret.size() >= hash_key::random_bytes_min && secret.size() <= secret_bytes_max);
    directory.replace(file_name, [&secret](int fd) {
        if (const auto error = write_all(fd, secret)) throw std::system_error{error};
        return true;
    });
}

}  // namespace seriesgate
