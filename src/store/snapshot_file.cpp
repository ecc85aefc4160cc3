#include "store/snapshot_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/state_stream.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace seriesgate {
namespace {

constexpr std::string_view magic{"SGSTATE\n"};
constexpr std::uint32_t format_version = 3;  // 2 had other fingerprints
constexpr std::size_t header_size = magic.size() + sizeof(std::uint32_t) + sizeof(std::uint64_t);
constexpr std::size_t checksum_size = sizeof(std::uint64_t);
constexpr std::size_t buffer_size = 1 << 20;

std::string failure(std::string_view what, const std::filesystem::path& file) {
    return std::string{what} + " " + file.string() + ": " + std::generic_category().message(errno);
}

class descriptor {
    int fd_;

  public:
    explicit descriptor(int fd) : fd_(fd) {}
    descriptor(const descriptor&) = delete;
    descriptor& operator=(const descriptor&) = delete;
    ~descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    [[nodiscard]] int get() const noexcept { return fd_; }
    [[nodiscard]] bool open() const noexcept { return fd_ >= 0; }
    /// Closes now, to see the error that the destructor would hide.
    [[nodiscard]] bool close() { return ::close(std::exchange(fd_, -1)) == 0; }
};

class checksum {
    struct release {
        void operator()(XXH3_state_t* state) const noexcept { XXH3_freeState(state); }
    };
    std::unique_ptr<XXH3_state_t, release> state_{XXH3_createState()};

  public:
    checksum() { XXH3_64bits_reset(state_.get()); }
    void add(std::string_view bytes) { XXH3_64bits_update(state_.get(), bytes.data(), bytes.size()); }
    [[nodiscard]] std::uint64_t value() const { return XXH3_64bits_digest(state_.get()); }
};

bool write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(fd, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

/// Buffers, counts and sums up.
class file_sink : public state_sink {
    int fd_;
    std::string buffer_;
    checksum sum_;
    std::uint64_t bytes_ = 0;

  public:
    explicit file_sink(int fd) : fd_(fd) { buffer_.reserve(buffer_size); }
    bool write(std::string_view bytes) override {
        sum_.add(bytes);
        bytes_ += bytes.size();
        if (buffer_.size() + bytes.size() > buffer_size && !flush()) return false;
        if (bytes.size() > buffer_size) return write_all(fd_, bytes);
        buffer_.append(bytes);
        return true;
    }
    bool flush() {
        const bool good = write_all(fd_, buffer_);
        buffer_.clear();
        return good;
    }
    /// Of all that has been written.
    [[nodiscard]] std::uint64_t sum() const { return sum_.value(); }
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
};

/// Reads what file_sink wrote, and sums it up on the way: a file is read once.
class file_source : public state_source {
    int fd_;
    std::uint64_t left_;
    std::vector<char> buffer_;
    std::size_t at_ = 0;
    std::size_t filled_ = 0;
    checksum sum_;

  public:
    /// @param size of the file, with the sum at its end.
    file_source(int fd, std::uint64_t size) : fd_(fd), left_(size - checksum_size), buffer_(buffer_size) {}

    bool read(char* into, std::size_t size) override {
        if (size > left_ || !take(into, size)) return false;
        left_ -= size;
        sum_.add({into, size});
        return true;
    }
    [[nodiscard]] std::uint64_t left() const override { return left_; }
    bool intact() override {
        std::uint64_t said = 0;
        return left_ == 0 && take(reinterpret_cast<char*>(&said), sizeof said) && said == sum_.value();
    }

  private:
    bool take(char* into, std::size_t size) {
        while (size > 0) {
            if (at_ == filled_ && size >= buffer_.size()) {  // large pieces go straight to their place
                const std::size_t got = read_some(into, std::min(size, piece_size));
                if (got == 0) return false;
                into += got;
                size -= got;
                continue;
            }
            if (at_ == filled_) {
                at_ = 0;
                filled_ = read_some(buffer_.data(), buffer_.size());
                if (filled_ == 0) return false;
            }
            const std::size_t part = std::min(size, filled_ - at_);
            std::memcpy(into, buffer_.data() + at_, part);
            at_ += part;
            into += part;
            size -= part;
        }
        return true;
    }

    std::size_t read_some(char* into, std::size_t size) {
        for (;;) {
            const ssize_t got = ::read(fd_, into, size);
            if (got < 0 && errno == EINTR) continue;
            return got <= 0 ? 0 : static_cast<std::size_t>(got);
        }
    }

    static constexpr std::size_t piece_size = std::size_t{1} << 30;
};

/// A rename is only there for good once the directory is.
bool sync_directory(const std::filesystem::path& directory) {
    const descriptor opened{::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    return opened.open() && ::fsync(opened.get()) == 0;
}

}  // namespace

snapshot_directory::snapshot_directory(std::filesystem::path directory, std::uint64_t identity)
    : directory_(std::move(directory)), identity_(identity) {
    std::error_code error;
    std::filesystem::create_directories(directory_, error);
    const auto lock_file = directory_ / "lock";
    lock_ = ::open(lock_file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (lock_ < 0) throw std::runtime_error(failure("state.dir: cannot open", lock_file));
    if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
        ::close(lock_);
        throw std::runtime_error("state.dir: " + directory_.string() + " is in use by another process");
    }
}

snapshot_directory::~snapshot_directory() {
    ::close(lock_);
}

snapshot_directory::load_outcome snapshot_directory::load(admission& limits, time_point now) const {
    const auto file = directory_ / "state";
    const descriptor in{::open(file.c_str(), O_RDONLY | O_CLOEXEC)};
    if (!in.open() && errno == ENOENT) return {load_result::absent, {}};
    const auto refused = [&file](std::string_view why) {
        return load_outcome{load_result::refused, file.string() + ": " + std::string{why}};
    };
    if (!in.open()) return {load_result::refused, failure("cannot open", file)};
    struct stat status {};
    if (::fstat(in.get(), &status) != 0) return {load_result::refused, failure("cannot read", file)};
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (size < header_size + checksum_size) return refused("too short for a state file");

    file_source source{in.get(), size};
    state_decoder header{source};
    std::array<char, magic.size()> found{};
    header.bytes(found.data(), found.size());
    if (std::string_view{found.data(), found.size()} != magic) return refused("not a state file of seriesgate");
    if (header.number<std::uint32_t>() != format_version) return refused("written by another version of seriesgate");
    if (header.number<std::uint64_t>() != identity_) return refused("made with other ignoreLabels");
    if (!limits.restore(source, now)) return refused("truncated or corrupt");
    return {load_result::loaded, {}};
}

snapshot_directory::save_outcome snapshot_directory::save(admission& limits) const {
    const auto file = directory_ / "state";
    const auto next = directory_ / "state.new";
    const auto failed = [](std::string why) { return save_outcome{save_result::failed, std::move(why), 0}; };
    descriptor out{::open(next.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)};
    if (!out.open()) return failed(failure("cannot write", next));

    file_sink sink{out.get()};
    state_encoder encoder{sink};
    encoder.bytes(magic);
    encoder.number(format_version);
    encoder.number(identity_);
    const bool complete = limits.save(sink);
    encoder.number(sink.sum());
    if (!encoder.good() || !sink.flush() || ::fsync(out.get()) != 0 || !out.close())
        return failed(failure("cannot write", next));
    if (!complete) return {save_result::window_ended, {}, 0};

    std::error_code error;
    std::filesystem::rename(next, file, error);
    if (error) return failed("cannot rename " + next.string() + ": " + error.message());
    if (!sync_directory(directory_)) return failed(failure("cannot sync", directory_));
    return {save_result::saved, {}, sink.bytes()};
}

}  // namespace seriesgate
