/// Fields of a Protocol Buffers message, appended to the bytes of one. Internal to wire.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/bytes.hpp"
#include "wire/field_cursor.hpp"

namespace seriesgate {

/// @param tag of the wire type `len`.
inline void append_bytes(std::string& out, std::uint32_t tag, bytes_view bytes) {
    append_varint(out, tag);
    append_varint(out, bytes.size());
    out.append(bytes);
}

/// What append_bytes() adds with a tag of one byte.
inline std::size_t bytes_field_size(std::size_t bytes) noexcept {
    return 1 + static_cast<std::size_t>(varint_size(bytes)) + bytes;
}

/// A `prometheus.Label`, as field 1 of the message around it.
inline void append_label(std::string& out, bytes_view name, bytes_view value) {
    append_varint(out, tag_of(1, wire_type::len));
    append_varint(out, bytes_field_size(name.size()) + bytes_field_size(value.size()));
    append_bytes(out, tag_of(1, wire_type::len), name);
    append_bytes(out, tag_of(2, wire_type::len), value);
}

}  // namespace seriesgate
