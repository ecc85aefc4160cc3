/// Beast's header fields, without anything that reads or writes them.
#pragma once

#include <boost/beast/http/fields.hpp>

namespace seriesgate {

namespace http = boost::beast::http;

}  // namespace seriesgate
