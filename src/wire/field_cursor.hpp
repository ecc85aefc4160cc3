/// Reads the fields of a Protocol Buffers message one by one, and appends fields to one.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "core/bytes.hpp"
#include "wire/wire_error.hpp"

namespace seriesgate {

enum class wire_type : std::uint8_t { varint = 0, fixed64 = 1, len = 2, group_start = 3, group_end = 4, fixed32 = 5 };

/// A tag on the wire: field number and wire type in one number, usable as a `case`.
constexpr std::uint32_t tag_of(std::uint32_t field, wire_type type) {
    return field << 3 | static_cast<std::uint32_t>(type);
}

/// The field numbers that a message defines, below 64, as a bit set.
template <class... Fields>
constexpr std::uint64_t known_fields(Fields... fields) {
    assert(((fields > 0 && fields < 64) && ...));
    return ((std::uint64_t{1} << fields) | ...);
}

/// The fields that a message defines, by wire type, as bit sets. A field may have two.
struct message_form {
    std::uint64_t varints = 0;
    std::uint64_t fixed64s = 0;
    std::uint64_t lengths = 0;
};

/// Walks a message field by field:
///
///     field_cursor fields{message};
///     while (fields.next())
///         switch (fields.tag()) {
///             case tag_of(1, wire_type::len): name = fields.read_bytes(); break;
///             default: fields.skip_unknown(known_fields(1));
///         }
///     if (fields.failed()) ...
///
/// Strict where parsers differ: a field that the gate skips and the store reads would bypass the limits. Tags must be
/// minimal and below 2^32; groups, and known fields with another wire type, are errors. Lengths may be padded to five
/// bytes, as in libprotobuf. After an error, next() returns false.
///
/// Read or skip every field announced by next() exactly once.
class field_cursor {
    const char* at_;
    const char* end_;
    const char* field_start_ = nullptr;
    std::uint32_t tag_ = 0;
    wire_errc error_ = wire_errc::none;

  public:
    explicit field_cursor(bytes_view message) noexcept : at_(message.data()), end_(message.data() + message.size()) {}

    /// Reads the next tag. @return false at the end of the message or after an error.
    bool next() noexcept {
        if (at_ == end_) return false;
        field_start_ = at_;
        const auto first = static_cast<unsigned char>(*at_);
        if (first < 0x80) [[likely]] {
            ++at_;
            tag_ = first;
        } else if (!read_long_tag()) {
            return false;
        }
        if (tag_ < 8) return fail(wire_errc::field_number_zero);
        return true;
    }

    /// Whether the next field has this tag. @param tag of one byte.
    [[nodiscard]] bool is_before(std::uint32_t tag) const noexcept {
        assert(tag >= 8 && tag < 0x80);
        return at_ != end_ && *at_ == static_cast<char>(tag);
    }

    [[nodiscard]] std::uint32_t tag() const noexcept { return tag_; }
    /// First byte of the current field's tag.
    [[nodiscard]] const char* field_start() const noexcept { return field_start_; }
    /// The first byte not read yet.
    [[nodiscard]] const char* position() const noexcept { return at_; }
    [[nodiscard]] bool failed() const noexcept { return error_ != wire_errc::none; }
    [[nodiscard]] wire_errc error() const noexcept { return error_; }

    /// Continues at `at`, between position() and the end, after the caller has read a field itself.
    void resume_at(const char* at) noexcept {
        assert(at >= at_ && at <= end_);
        at_ = at;
    }

    bytes_view read_bytes() noexcept {
        std::uint64_t size = 0;
        const char* const start = at_;
        const char* payload = read_varint(at_, end_, size);
        if (payload == nullptr) return fail(varint_error()), bytes_view{};
        if (payload - start > 5) return fail(wire_errc::varint_too_long), bytes_view{};
        if (size > static_cast<std::uint64_t>(end_ - payload)) return fail(wire_errc::truncated), bytes_view{};
        at_ = payload + size;
        assert(at_ <= end_);
        return {payload, static_cast<std::size_t>(size)};
    }

    std::uint64_t read_varint_value() noexcept {
        std::uint64_t value = 0;
        const char* after = read_varint(at_, end_, value);
        if (after == nullptr) return fail(varint_error()), std::uint64_t{0};
        assert(after > at_ && after <= end_);
        at_ = after;
        return value;
    }

    /// Little-endian 64 bits; a double's bits never pass through a floating-point register.
    std::uint64_t read_fixed64() noexcept {
        if (end_ - at_ < 8) return fail(wire_errc::truncated), std::uint64_t{0};
        std::uint64_t value = 0;
        std::memcpy(&value, at_, sizeof value);
        at_ += sizeof value;
        return value;
    }

    /// Skips a field that the message does not define.
    /// @param known the defined numbers; one of them here has a wrong wire type, which is an error.
    void skip_unknown(std::uint64_t known) noexcept {
        assert(field_start_ != nullptr && tag_ >= 8);  // after next()
        const auto field = tag_ >> 3;
        const auto type = static_cast<wire_type>(tag_ & 7);
        if (type == wire_type::group_start || type == wire_type::group_end)
            fail(wire_errc::group);
        else if (field < 64 && (known >> field & 1) != 0)
            fail(wire_errc::wrong_wire_type);
        else
            skip(type);
    }

    /// Skips a field that the message defines with this wire type, or does not define at all.
    void skip(const message_form& of) noexcept {
        const std::uint64_t fitting[8] = {of.varints, of.fixed64s, of.lengths};
        skip_unknown((of.varints | of.fixed64s | of.lengths) & ~fitting[tag_ & 7]);
    }

    /// Marks the message as invalid at the current field.
    bool fail(wire_errc code) noexcept {
        assert(code != wire_errc::none);
        error_ = code;
        at_ = end_;
        return false;
    }

  private:
    bool read_long_tag() noexcept {
        std::uint64_t tag = 0;
        const char* after = read_varint(at_, end_, tag);
        if (after == nullptr) return fail(varint_error());
        if (tag > UINT32_MAX || after - at_ != varint_size(tag)) return fail(wire_errc::tag_not_canonical);
        at_ = after;
        tag_ = static_cast<std::uint32_t>(tag);
        return true;
    }

    void skip(wire_type type) noexcept {
        switch (type) {
            case wire_type::varint:
                read_varint_value();
                return;
            case wire_type::fixed64:
                read_fixed64();
                return;
            case wire_type::len:
                read_bytes();
                return;
            case wire_type::fixed32:
                if (end_ - at_ < 4) return void(fail(wire_errc::truncated));
                at_ += 4;
                return;
            default:
                fail(wire_errc::unknown_wire_type);
        }
    }

    /// The reason why the varint at at_ is invalid: the input ended, or it is too long.
    [[nodiscard]] wire_errc varint_error() const noexcept {
        const bool ends_inside = at_ == end_ || (end_ - at_ < varint_bytes_max && (end_[-1] & 0x80) != 0);
        return ends_inside ? wire_errc::truncated : wire_errc::varint_too_long;
    }
};

// --- Writing fields. Internal to wire.

/// @param tag of the wire type `len`.
inline void append_bytes(std::string& out, std::uint32_t tag, bytes_view bytes) {
    append_varint(out, tag);
    append_varint(out, bytes.size());
    out.append(bytes);
}

/// Bytes that append_bytes() adds for a tag of one byte.
inline std::size_t bytes_field_size(std::size_t bytes) noexcept {
    return 1 + static_cast<std::size_t>(varint_size(bytes)) + bytes;
}

/// Appends a `prometheus.Label` as field 1 of the surrounding message.
inline void append_label(std::string& out, bytes_view name, bytes_view value) {
    append_varint(out, tag_of(1, wire_type::len));
    append_varint(out, bytes_field_size(name.size()) + bytes_field_size(value.size()));
    append_bytes(out, tag_of(1, wire_type::len), name);
    append_bytes(out, tag_of(2, wire_type::len), value);
}

}  // namespace seriesgate
