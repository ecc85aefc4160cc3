#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "config/yaml_fault.hpp"

/// Why a text is no YAML, in the words of who wrote it: a parser tells where it gave up, not what was meant.
namespace seriesgate {

/// @param given what the parser said, and the line where it gave up, from 1; 0 if unknown.
yaml_fault explain_fault(std::string_view text, const yaml_fault& given);

/// Of a text with a quote that is never closed.
/// @param line where it opens.
yaml_fault unclosed_quote(std::string_view text, std::size_t line);

/// Of a text that is one value and not keys and values: what its first line lacks; empty if that is not known.
std::string missing_in_line(std::string_view text);

/// Of a line that begins a second document, though none was meant; empty if one was.
std::string unindented_line(std::string_view text, std::size_t line);

}  // namespace seriesgate
