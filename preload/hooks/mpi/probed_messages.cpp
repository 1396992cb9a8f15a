#include "hooks/mpi/probed_messages.h"

#include "record/mpi/library/library.h"

#include <atomic>

namespace plumb::shim::mpi {
namespace {

// A place belongs to the thread that put kBusy there until it writes another handle; 0: free.
struct Place {
    std::atomic<Handle> message;
    ProbedMessage what;
};
constexpr uint32_t kPlaces = 256;
constexpr Handle kBusy = 1;
constinit Place places[kPlaces]{};

} // namespace

void remember_message(Handle message, const ProbedMessage& what) {
    if (message == 0 || message == kBusy || message == library().no_process_message)
        return;
    for (Place& place : places) {
        Handle free = 0;
        if (place.message.load(std::memory_order_relaxed) != 0 ||
            !place.message.compare_exchange_strong(free, kBusy, std::memory_order_acquire))
            continue;
        place.what = what;
        place.message.store(message, std::memory_order_release);
        return;
    }
}

bool take_message(Handle message, ProbedMessage* what) {
    if (message == 0 || message == kBusy)
        return false;
    for (Place& place : places) {
        Handle wanted = message;
        if (place.message.load(std::memory_order_relaxed) != message ||
            !place.message.compare_exchange_strong(wanted, kBusy, std::memory_order_acquire))
            continue;
        *what = place.what;
        place.message.store(0, std::memory_order_release);
        return true;
    }
    return false;
}

} // namespace plumb::shim::mpi
