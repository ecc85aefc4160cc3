#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"

/// What can be said of `shared` only when all keys have been read.
namespace seriesgate {

/// Something to tell of a configuration.
struct key_remark {
    std::vector<std::string_view> keys;  ///< it is told at the first of these that the user has written
    std::string message;
};

/// What cannot be.
std::vector<key_remark> wrong_with_shared(const config& read);

/// What is allowed and surely not meant; for configurations without errors, see doubts.hpp.
std::vector<key_remark> doubtful_in_shared(const config& read);

}  // namespace seriesgate
