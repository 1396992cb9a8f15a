#include "hooks/real_functions.h"

#include "hooks/libc_thread_redirect.h"
#include "platform/code/signals_blocked.h"
#include "platform/os/futex_lock.h"
#include "record/signals/program_signals.h"

#include <errno.h>
#include <string.h>

namespace plumb::shim {
namespace {

constinit FutexLock filling{};
__thread bool filled_by_this_thread = false;

// Later than glibc 2.26, or in libraries of their own (librt, libanl) before 2.34.
constexpr const char* kRecent[] = {"_Fork",       "aio_fsync",    "aio_read",   "aio_read64",   "aio_write",
                                   "aio_write64", "epoll_pwait2", "execveat",   "getaddrinfo_a", "lio_listio",
                                   "lio_listio64", "mq_notify",   "thrd_create", "timer_create"};

bool is_recent(const char* name) {
    for (const char* recent : kRecent)
        if (strcmp(recent, name) == 0)
            return true;
    return false;
}

template <class Function> void find(Function& function, const char* name, bool recent) {
    if (is_recent(name) == recent)
        function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

} // namespace

constinit std::atomic<const RealFunctions*> published_functions{nullptr};
RealFunctions filled_functions;

const RealFunctions* resolve_real_functions() {
    if (filled_by_this_thread)
        return nullptr;
    const int error_of_program = errno;
    const SignalsBlocked blocked;
    filling.take();
    if (!published_functions.load(std::memory_order_acquire)) {
        filled_by_this_thread = true;
#define PLUMB_X(family, result, name, parameters) find(filled_functions.name, #name, false);
        PLUMB_HOOKS(PLUMB_X)
#undef PLUMB_X
        filled_by_this_thread = false;
        start_program_signals({filled_functions.sigaction, filled_functions.pthread_sigmask});
        published_functions.store(&filled_functions, std::memory_order_release);
        redirect_libc_thread_functions();
    }
    filling.release();
    errno = error_of_program;
    return &filled_functions;
}

void resolve_recent_functions() {
#define PLUMB_X(family, result, name, parameters) find(filled_functions.name, #name, true);
    PLUMB_HOOKS(PLUMB_X)
#undef PLUMB_X
}

} // namespace plumb::shim
