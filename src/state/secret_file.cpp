#include "state/secret_file.hpp"

#include <cassert>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <span>
#include <stdexcept>
#include <system_error>

#include "core/text.hpp"
#include "series/fingerprint.hpp"
#include "system/random.hpp"

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
    fill_random(std::as_writable_bytes(std::span{secret}));
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
