// Compiles what Asio and Beast leave to one place (BOOST_*_SEPARATE_COMPILATION); for TLS that is tls.cpp.
#include <boost/asio/impl/src.hpp>
#include <boost/beast/src.hpp>
