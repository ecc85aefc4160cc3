#include "process/state_directory.hpp"

#define XXH_INLINE_ALL

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <xxhash.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <span>
#include <stdexcept>

#include "base/random.hpp"
#include "core/text.hpp"
#include "series/fingerprint.hpp"

namespace seriesgate {
namespace {

constexpr const char* lock_name = "lock";
constexpr mode_t file_mode = 0600;
constexpr mode_t directory_mode = 0700;
constexpr mode_t parent_mode = 0777;  // minus the umask, like mkdir -p
/// O_NONBLOCK: opening a FIFO must not wait. O_NOCTTY: a terminal must not become the controlling one.
constexpr int wary = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

/// @param error an errno. ELOOP's own text would mislead, because O_NOFOLLOW causes it.
std::runtime_error failure(std::string_view what, const std::string& file, int error = errno) {
    const std::string why = error == ELOOP ? "is a symbolic link" : std::generic_category().message(error);
    return std::runtime_error{std::string{what} + " " + file + ": " + why};
}

bool same_file(const struct stat& one, const struct stat& other) noexcept {
    return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

[[maybe_unused]] bool is_plain(std::string_view name) noexcept {
    return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos;
}

bool is_regular(int fd) noexcept {
    struct stat status {};
    return ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

bool is_there(const std::filesystem::path& path) noexcept {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

/// Creates a directory with its parents. Throws with the failed one's name; a later open reports a non-directory.
void make_directory(const std::filesystem::path& path) {
    std::filesystem::path made;
    for (const std::filesystem::path& part : path) {
        made /= part;
        const bool is_parent = made != path;
        if (::mkdir(made.c_str(), is_parent ? parent_mode : directory_mode) == 0) continue;
        const int error = errno;
        if (is_there(made)) continue;  // regardless of mkdir's error: EEXIST, EROFS or EACCES
        if (!is_parent && error == EEXIST) return;
        throw failure("state.dir: cannot make", path.string() + (is_parent ? ": " + made.string() : ""),
                      error == EEXIST ? ENOTDIR : error);
    }
}

/// Whether the directory contains nothing but a lock.
bool is_empty(int directory) {
    std::error_code error;
    const std::filesystem::directory_iterator entries{"/proc/self/fd/" + std::to_string(directory), error};
    return !error && std::all_of(begin(entries), end(entries),
                                 [](const auto& each) { return each.path().filename() == lock_name; });
}

/// Removes its file at the end, unless it was renamed.
struct unfinished_file {
    int directory;
    std::string name;

    unfinished_file(int in, std::string called) : directory(in), name(std::move(called)) {}
    unfinished_file(const unfinished_file&) = delete;
    unfinished_file& operator=(const unfinished_file&) = delete;
    ~unfinished_file() { (void)remove(); }
    [[nodiscard]] bool remove() const noexcept {
        return ::unlinkat(directory, name.c_str(), 0) == 0 || errno == ENOENT;
    }
};

constexpr std::string_view file_name{"secret"};
constexpr std::size_t secret_bytes_max = 64 * 1024;

std::string checked(std::string secret, const std::string& file) {
    if (secret.size() >= hash_key::random_bytes_min) return secret;
    throw std::runtime_error(file + ": a secret of " + counted(secret.size(), "byte") + ", at least " +
                             std::to_string(hash_key::random_bytes_min) + " are needed");
}

constexpr std::string_view observed_magic{"SGSEEN1\n"};
constexpr std::size_t sum_bytes = sizeof(std::uint64_t);
constexpr std::size_t header_bytes = observed_magic.size() + sizeof(std::uint32_t) + sizeof(std::uint64_t);

std::uint64_t sum_of(std::string_view text) {
    return XXH3_64bits(text.data(), text.size());
}

}  // namespace

std::error_code write_all(int fd, std::string_view bytes) noexcept {
    assert(fd >= 0);
    while (!bytes.empty()) {
        const ssize_t written = ::write(fd, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return {errno, std::generic_category()};
        assert(static_cast<std::size_t>(written) <= bytes.size());
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
}

state_directory::state_directory(std::filesystem::path path) : path_(std::move(path)) {
    if (!path_.has_filename()) path_ = path_.parent_path();  // without the trailing slash
    take();
}

/// Opens and locks the current directory of the path; all or nothing.
void state_directory::take() {
    make_directory(path_);
    descriptor directory{::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (!directory.open()) throw failure("state.dir: cannot open", path_.string());

    descriptor lock{::openat(directory.get(), lock_name, O_RDWR | O_CREAT | wary, file_mode)};
    if (!lock.open()) throw failure("state.dir: cannot open", path_of(lock_name));
    if (!is_regular(lock.get())) throw std::runtime_error("state.dir: " + path_of(lock_name) + ": not a regular file");
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) throw failure("state.dir: cannot lock", path_of(lock_name));
        throw std::runtime_error("state.dir: " + path_.string() + " is in use by another process");
    }

    struct stat before {
    }, now{};
    const bool taken_before = directory_.open() && ::fstat(directory_.get(), &before) == 0;
    if (taken_before && (::fstat(directory.get(), &now) != 0 || !same_file(before, now)) && !is_empty(directory.get()))
        throw std::runtime_error("state.dir: " + path_.string() +
                                 " is another directory now than the one this process has locked, with files in it");
    assert(directory.open() && lock.open());
    directory_ = std::move(directory);
    lock_ = std::move(lock);
}

bool state_directory::is_held() const noexcept {
    assert(directory_.open());
    if (!lock_.open()) return false;  // given up
    struct stat ours {
    }, there{};
    if (::fstat(directory_.get(), &ours) != 0 || ::stat(path_.c_str(), &there) != 0 || !same_file(ours, there))
        return false;
    return ::fstat(lock_.get(), &ours) == 0 &&
           ::fstatat(directory_.get(), lock_name, &there, AT_SYMLINK_NOFOLLOW) == 0 && same_file(ours, there);
}

bool state_directory::hold() {
    if (is_held()) return false;
    take();
    return true;
}

std::optional<descriptor> state_directory::open(std::string_view name) const {
    assert(is_plain(name));
    descriptor in{::openat(directory_.get(), std::string{name}.c_str(), O_RDONLY | wary)};
    if (!in.open() && errno == ENOENT) return std::nullopt;
    if (!in.open()) throw failure("cannot open", path_of(name));
    if (!is_regular(in.get())) throw std::runtime_error(path_of(name) + ": not a regular file");
    return in;
}

std::optional<std::string> state_directory::read(std::string_view name, std::size_t size_max) const {
    const auto in = open(name);
    if (!in) return std::nullopt;
    std::string content;
    if (!read_whole(*in, size_max, content)) throw failure("cannot read", path_of(name));
    if (content.size() > size_max) throw std::runtime_error(path_of(name) + ": too long");
    return content;
}

bool state_directory::replace(std::string_view name, const writer& write) const {
    assert(is_plain(name) && name != lock_name);
    const std::string final_name{name};
    const unfinished_file next{directory_.get(), final_name + ".new"};
    const auto failed = [&](std::string_view what, int error) { return failure(what, path_of(next.name), error); };
    // Removes a file left by a crash or by others, instead of writing into it.
    if (!next.remove()) throw failed("cannot write", errno);
    descriptor out{::openat(next.directory, next.name.c_str(), O_WRONLY | O_CREAT | O_EXCL | wary, file_mode)};
    if (!out.open()) throw failed("cannot write", errno);
    try {
        if (!write(out.get())) return false;
    } catch (const std::system_error& error) {
        throw failed("cannot write", error.code().value());
    }
    if (::fsync(out.get()) != 0 || !out.close()) throw failed("cannot write", errno);
    if (::renameat(next.directory, next.name.c_str(), next.directory, final_name.c_str()) != 0)
        throw failed("cannot rename", errno);
    // The rename is durable only after this.
    if (::fsync(directory_.get()) != 0) throw failure("cannot sync", path_.string());
    return true;
}

std::string random_secret() {
    std::string secret(hash_key::random_bytes_min, '\0');
    fill_random(std::as_writable_bytes(std::span{secret}));
    assert(secret.size() >= hash_key::random_bytes_min);
    return secret;
}

std::string read_secret(const std::string& path) {
    const descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    std::string secret;
    if (!file.open() || !read_whole(file, secret_bytes_max, secret))
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

void cardinality_file::save(const std::function<void(state_encoder&)>& write) {
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

std::string cardinality_file::load(const std::function<bool(state_decoder&)>& read) const try {
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
