/// Bytes of the limiter's state on their way to a file and back.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace seriesgate {

/// Where a snapshot goes. Implemented by the store.
class state_sink {
  public:
    /// @return false if the bytes could not be written: saving then stops.
    virtual bool write(std::string_view bytes) = 0;

  protected:
    ~state_sink() = default;
};

/// Bytes put together in memory.
class text_sink final : public state_sink {
    std::string& text_;

  public:
    explicit text_sink(std::string& text) : text_(text) {}
    bool write(std::string_view bytes) override {
        text_.append(bytes);
        return true;
    }
};

/// Where a snapshot comes from.
class state_source {
  public:
    /// Fills `size` bytes. @return false if there are not so many.
    virtual bool read(char* into, std::size_t size) = 0;
    /// Bytes that are still to come: what claims to be longer is damage, and not worth allocating for.
    [[nodiscard]] virtual std::uint64_t left() const = 0;
    /// Asked when all has been read that there should be, before it is put to use.
    /// @return whether that was all of it, and as it was written.
    virtual bool intact() = 0;

  protected:
    ~state_source() = default;
};

/// Bytes in memory.
class text_source final : public state_source {
    std::string_view left_;

  public:
    explicit text_source(std::string_view text) : left_(text) {}

    bool read(char* into, std::size_t size) override {
        if (size > left_.size()) return false;
        if (size != 0) std::memcpy(into, left_.data(), size);
        left_.remove_prefix(size);
        return true;
    }
    [[nodiscard]] std::uint64_t left() const override { return left_.size(); }
    bool intact() override { return left_.empty(); }
};

/// Numbers are little-endian, as the machines are that this is built for (see series/fingerprint.cpp).
class state_encoder {
    state_sink& sink_;
    bool good_ = true;

  public:
    explicit state_encoder(state_sink& sink) : sink_(sink) {}

    void bytes(std::string_view data) { good_ = good_ && sink_.write(data); }
    template <class Number>
    requires std::is_arithmetic_v<Number>
    void number(Number value) { bytes({reinterpret_cast<const char*>(&value), sizeof value}); }
    void text(std::string_view value) {
        number(static_cast<std::uint32_t>(value.size()));
        bytes(value);
    }
    /// What state_decoder::count reads with the same `max`: a sum that has grown beyond it stays there.
    void count(std::uint64_t value, std::uint64_t max) { number(value < max ? value : max); }
    [[nodiscard]] bool good() const noexcept { return good_; }
};

/// Errors stick: after one, everything reads as zero and good() is false. Sizes are checked by who reads them.
class state_decoder {
    state_source& source_;
    bool good_ = true;

  public:
    explicit state_decoder(state_source& source) : source_(source) {}

    bool bytes(char* into, std::size_t size) { return good_ = good_ && source_.read(into, size); }
    template <class Number>
    requires std::is_arithmetic_v<Number> Number number() {
        Number value{};
        if (!bytes(reinterpret_cast<char*>(&value), sizeof value)) return Number{};
        return value;
    }
    std::string text() {
        const auto size = number<std::uint32_t>();
        if (size > text_bytes_max) fail();
        std::string value(good_ ? size : 0, '\0');
        if (!bytes(value.data(), value.size())) return {};
        return value;
    }
    /// A count of things that follow, each of at least one byte. @param max more is a sign of damage.
    std::uint64_t count(std::uint64_t max) {
        const auto value = number<std::uint64_t>();
        if (value > max) fail();
        return good_ ? value : 0;
    }
    /// Whether so many bytes are still to come. If not, this is an error.
    bool has(std::uint64_t size) {
        if (size > source_.left()) fail();
        return good_;
    }
    [[nodiscard]] bool is_at_end() const { return source_.left() == 0; }
    void fail() noexcept { good_ = false; }
    [[nodiscard]] bool good() const noexcept { return good_; }

  private:
    static constexpr std::uint32_t text_bytes_max = 1 << 20;
};

}  // namespace seriesgate
