/// The one error alias of the code base: a value or a small error, never an exception.
#pragma once

#include <boost/system/result.hpp>

namespace seriesgate {

/// A T or an E. Check with `if (!r) return r.error();`, then read `*r`.
/// Boost.System's result stands in until std::expected can be had in C++20 mode.
template <class T, class E>
using result = boost::system::result<T, E>;

}  // namespace seriesgate
