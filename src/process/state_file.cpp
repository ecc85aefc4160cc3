#include "process/state_file.hpp"

#define XXH_INLINE_ALL

#include <sys/stat.h>
#include <xxhash.h>

#include <array>
#include <cassert>
#include <cstdio>
#include <memory>
#include <new>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/state_stream.hpp"

namespace seriesgate {
namespace {

constexpr std::string_view snapshot_magic{"SGSTATE\n"};
constexpr std::size_t header_size = snapshot_magic.size() + sizeof(std::uint32_t) + 2 * sizeof(std::uint64_t);
constexpr std::size_t checksum_size = sizeof(std::uint64_t);
constexpr std::size_t buffer_size = 1 << 20;

class checksum {
    struct release {
        void operator()(XXH3_state_t* state) const noexcept { XXH3_freeState(state); }
    };
    std::unique_ptr<XXH3_state_t, release> state_{XXH3_createState()};

  public:
    checksum() {
        if (!state_) throw std::bad_alloc{};
        XXH3_64bits_reset(state_.get());
    }
    void add(std::string_view bytes) { XXH3_64bits_update(state_.get(), bytes.data(), bytes.size()); }
    [[nodiscard]] std::uint64_t value() const { return XXH3_64bits_digest(state_.get()); }
};

/// Buffers, counts and checksums the file.
class file_sink : public state_sink {
    int fd_;
    const std::function<void()>& between_;
    std::string buffer_;
    checksum sum_;
    std::uint64_t bytes_ = 0;
    std::error_code error_;

  public:
    file_sink(int fd, const std::function<void()>& between) : fd_(fd), between_(between) {
        buffer_.reserve(buffer_size);
    }
    /// Does not throw: the caller must end its recording first.
    bool write(std::string_view bytes) override {
        assert(buffer_.size() <= buffer_size);
        sum_.add(bytes);
        bytes_ += bytes.size();
        if (buffer_.size() + bytes.size() > buffer_size) {
            put(buffer_);
            buffer_.clear();
        }
        if (bytes.size() > buffer_size)
            put(bytes);
        else
            buffer_.append(bytes);
        return !error_;
    }
    /// Throws std::system_error if any write has failed.
    void finish() {
        put(buffer_);
        if (error_) throw std::system_error{error_};
    }
    /// The checksum so far.
    [[nodiscard]] std::uint64_t sum() const { return sum_.value(); }
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

  private:
    void put(std::string_view bytes) {
        if (!error_) error_ = write_all(fd_, bytes);
        if (between_) between_();
    }
};

/// Reads a file_sink's file once, and checksums it meanwhile.
class file_source : public state_source {
    struct closer {
        void operator()(std::FILE* file) const noexcept { std::fclose(file); }
    };
    std::vector<char> buffer_;  // of file_, so it goes after it
    std::unique_ptr<std::FILE, closer> file_;
    std::uint64_t left_;
    checksum sum_;

  public:
    /// @param size of the file, checksum included.
    file_source(descriptor from, std::uint64_t size)
        : buffer_(buffer_size), file_(::fdopen(from.get(), "rb")), left_(size - checksum_size) {
        assert(size >= header_size + checksum_size);
        if (!file_) throw std::bad_alloc{};
        static_cast<void>(from.release());  // the file closes it
        std::setvbuf(file_.get(), buffer_.data(), _IOFBF, buffer_.size());
    }

    bool read(char* into, std::size_t size) override {
        if (size > left_ || std::fread(into, 1, size, file_.get()) != size) return false;
        left_ -= size;
        sum_.add({into, size});
        return true;
    }
    [[nodiscard]] std::uint64_t left() const override { return left_; }
    bool intact() override {
        std::uint64_t stored = 0;
        return left_ == 0 && std::fread(&stored, sizeof stored, 1, file_.get()) == 1 && stored == sum_.value();
    }
};

}  // namespace

state_file::load_outcome state_file::load(series_limiter& limiter, time_point now) const try {
    auto in = directory_.open("state");
    if (!in) return {load_result::absent, {}};
    const auto refused = [this](std::string_view why) {
        return load_outcome{load_result::refused, directory_.path_of("state") + ": " + std::string{why}};
    };
    struct stat status {};
    if (::fstat(in->get(), &status) != 0) return refused("cannot be read");
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (size < header_size + checksum_size) return refused("too short for a state file");

    file_source source{*std::move(in), size};
    state_decoder header{source};
    std::array<char, snapshot_magic.size()> found{};
    header.bytes(found.data(), found.size());
    if (std::string_view{found.data(), found.size()} != snapshot_magic)
        return refused("not a state file of seriesgate");
    if (const auto format = header.number<std::uint32_t>(); format != format_version)
        return refused("has format " + std::to_string(format) + ", this version of seriesgate reads format " +
                       std::to_string(format_version) + " only");
    if (header.number<std::uint64_t>() != identities_.ignored_labels) return refused("made with other ignoreLabels");
    if (header.number<std::uint64_t>() != identities_.secret) return refused("made with another secret");
    assert(source.left() == size - header_size - checksum_size);
    if (!restore_snapshot(limiter, source, now)) return refused("truncated or corrupt");
    return {load_result::loaded, {}};
} catch (const std::runtime_error& error) {  // not bad_alloc: better no start than an empty one
    return {load_result::refused, error.what()};
}

state_file::save_outcome state_file::save(series_limiter& limiter, const std::function<void()>& between) const try {
    std::uint64_t bytes = 0;
    const bool saved = directory_.replace("state", [&](int fd) {
        file_sink sink{fd, between};
        state_encoder encoder{sink};
        encoder.bytes(snapshot_magic);
        encoder.number(format_version);
        encoder.number(identities_.ignored_labels);
        encoder.number(identities_.secret);
        assert(sink.bytes() == header_size);
        const bool complete = save_snapshot(limiter, sink);
        encoder.number(sink.sum());
        sink.finish();
        bytes = sink.bytes();
        assert(bytes >= header_size + checksum_size);
        return complete;
    });
    return saved ? save_outcome{save_result::saved, {}, bytes} : save_outcome{save_result::window_ended, {}, 0};
} catch (const std::exception& error) {
    return {save_result::failed, error.what(), 0};
}

}  // namespace seriesgate
