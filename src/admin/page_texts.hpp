/// The style and the script of the status page, from src/admin/page/: see cmake/page_texts.cmake.
#pragma once

#include <string_view>

namespace seriesgate {

extern const std::string_view page_style;
extern const std::string_view page_script;
/// For a Content-Security-Policy: `sha256-` and the hash in base64.
extern const std::string_view page_style_hash;
extern const std::string_view page_script_hash;

}  // namespace seriesgate
