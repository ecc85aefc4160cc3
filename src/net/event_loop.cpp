#include "net/event_loop.hpp"

#include <pthread.h>

#include "net/background.hpp"

namespace seriesgate {

std::jthread start_thread(net::io_context& loop, const std::string& name) {
    std::jthread started{[&loop] { run_handlers(loop); }};
    pthread_setname_np(started.native_handle(), name.c_str());
    return started;
}

}  // namespace seriesgate
