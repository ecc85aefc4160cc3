/// Streams of the saved state: encoder, decoder, and the sinks and sources behind them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace seriesgate {

class state_sink {
  public:
    /// @return false if writing failed; saving then stops.
    virtual bool write(std::string_view bytes) = 0;

  protected:
    ~state_sink() = default;
};

class text_sink final : public state_sink {
    std::string& text_;

  public:
    explicit text_sink(std::string& text) : text_(text) {}
    bool write(std::string_view bytes) override {
        text_.append(bytes);
        return true;
    }
};

class state_source {
  public:
    /// Fills `size` bytes. @return false if fewer remain.
    virtual bool read(char* into, std::size_t size) = 0;
    /// Remaining bytes: a larger declared size is damage and must not be allocated.
    [[nodiscard]] virtual std::uint64_t left() const = 0;
    /// Called after the last read, before the content is used.
    /// @return whether nothing remains and all is as it was written.
    virtual bool intact() = 0;

  protected:
    ~state_source() = default;
};

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

/// Numbers are little-endian, like the supported machines (series/fingerprint.cpp).
class state_encoder {
    state_sink& sink_;
    bool good_ = true;

  public:
    explicit state_encoder(state_sink& sink) : sink_(sink) {}

    void bytes(std::string_view data) { good_ = good_ && sink_.write(data); }
    template <class Number>
    requires std::is_arithmetic_v<Number>
    void number(Number value) { bytes({reinterpret_cast<const char*>(&value), sizeof value}); }
    /// One behind the other.
    template <class... Numbers>
    void numbers(Numbers... values) {
        (number(values), ...);
    }
    /// The same with what saves itself.
    template <class... Parts>
    void parts(const Parts&... each) {
        (each.save(*this), ...);
    }
    void text(std::string_view value) {
        number(static_cast<std::uint32_t>(value.size()));
        bytes(value);
    }
    template <class Moment>
    void time(Moment when) {
        number(static_cast<std::int64_t>(when.time_since_epoch().count()));
    }
    /// For state_decoder::count with the same `max`; larger sums are written as `max`.
    void count(std::uint64_t value, std::uint64_t max) { number(value < max ? value : max); }
    [[nodiscard]] bool good() const noexcept { return good_; }
};

/// After an error, all reads return zero and good() is false. Callers check sizes.
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
    /// What loads itself, one behind the other.
    template <class... Parts>
    void parts(Parts&... each) {
        (each.load(*this), ...);
    }
    std::string text() {
        const auto size = number<std::uint32_t>();
        if (size > text_bytes_max) fail();
        std::string value(good_ ? size : 0, '\0');
        if (!bytes(value.data(), value.size())) return {};
        return value;
    }
    /// A moment from 1970 to 2200, so that sums and differences of two fit. Any other moment is damage.
    /// @param never one more moment that is accepted.
    template <class Moment>
    Moment time(Moment never = {}) {
        const Moment when{typename Moment::duration{number<std::int64_t>()}};
        const bool is_sane = Moment{} <= when && when <= std::chrono::sys_days{std::chrono::year{2200} / 1 / 1};
        if (!is_sane && when != never) fail();
        return good_ ? when : Moment{};
    }
    /// The number of items that follow. @param max a larger number is damage.
    std::uint64_t count(std::uint64_t max) {
        const auto value = number<std::uint64_t>();
        if (value > max) fail();
        return good_ ? value : 0;
    }
    /// Fails unless this many bytes remain. Call it before allocating room for them.
    bool has(std::uint64_t size) {
        if (size > source_.left()) fail();
        return good_;
    }
    /// Bytes that remain.
    [[nodiscard]] std::uint64_t left() const { return source_.left(); }
    [[nodiscard]] bool is_at_end() const { return source_.left() == 0; }
    void fail() noexcept { good_ = false; }
    [[nodiscard]] bool good() const noexcept { return good_; }

  private:
    static constexpr std::uint32_t text_bytes_max = 1 << 20;
};

}  // namespace seriesgate
