#include "net/tls_error.hpp"

#include <boost/system/error_category.hpp>
#include <string>

namespace seriesgate {
namespace {

struct tls_category final : boost::system::error_category {
    const char* name() const noexcept override { return "tls"; }
    std::string message(int of) const override {
        return static_cast<tls_error>(of) == tls_error::truncated ? "TLS was cut off" : "TLS did not come about";
    }
};

}  // namespace

error_code make_error_code(tls_error from) noexcept {
    static const tls_category category;
    return {static_cast<int>(from), category};
}

}  // namespace seriesgate
