/// What OpenSSL says of a failure, in words for a log line.
#pragma once

#include <openssl/ssl.h>

#include <string>

namespace seriesgate {

/// Why the last operation failed, from this thread's queue of OpenSSL's errors and the certificate's verification.
[[nodiscard]] std::string failure_of(const SSL* of);

/// The first error in this thread's queue, which is emptied.
[[nodiscard]] std::string take_openssl_error();

}  // namespace seriesgate
