/// The error type of the code base: a value or a small error, never an exception.
#pragma once

#include <boost/system/result.hpp>

namespace seriesgate {

/// A T or an E. Check with `if (!r) return r.error();`, then read `*r`.
/// Boost.System's result replaces std::expected, which C++20 lacks.
template <class T, class E>
using result = boost::system::result<T, E>;

}  // namespace seriesgate
