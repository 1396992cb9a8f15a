#include "platform/os/cpu_tick.h"

#include "platform/os/system_call.h"
#include "platform/os/text.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>

namespace plumb::shim {
namespace {

constexpr uint64_t kCookie = 0x706c756d62746963; // "plumbtic"
// A program that is allowed fewer pending signals than this may count on each of them.
constexpr rlim_t kLeastPendingSignals = 1024;

bool kernel_is_at_least(uint64_t major, uint64_t minor) {
    utsname system = {};
    if (system_call(SYS_uname, word(&system)) < 0)
        return false;
    const char* dot = strchr(system.release, '.');
    const uint64_t its_major = parse_number(system.release, 0), its_minor = dot ? parse_number(dot + 1, 0) : 0;
    return its_major > major || (its_major == major && its_minor >= minor);
}

bool many_signals_may_be_pending() {
    rlimit limit = {};
    return system_call(SYS_prlimit64, 0, RLIMIT_SIGPENDING, 0, word(&limit)) < 0 || limit.rlim_cur >= kLeastPendingSignals;
}

} // namespace

int start_cpu_tick(uint64_t period_ns, CpuTick* tick) {
    *tick = {};
    if (!kernel_is_at_least(5, 11))
        return -ENOSYS;
    if (!many_signals_may_be_pending())
        return -EAGAIN;
    sigevent event = {};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGTRAP;
    event.sigev_value.sival_ptr = reinterpret_cast<void*>(kCookie);
    event._sigev_un._tid = static_cast<pid_t>(system_call(SYS_gettid));
    long error = system_call(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, word(&event), word(&tick->timer));
    if (error < 0)
        return static_cast<int>(error);
    itimerspec times = {};
    times.it_interval.tv_nsec = static_cast<long>(period_ns);
    times.it_value = times.it_interval;
    error = system_call(SYS_timer_settime, tick->timer, 0, word(&times), 0);
    if (error < 0)
        system_call(SYS_timer_delete, tick->timer);
    tick->runs = error >= 0;
    return static_cast<int>(error);
}

void stop_cpu_tick(CpuTick* tick) {
    if (tick->runs)
        system_call(SYS_timer_delete, tick->timer);
    tick->runs = false;
}

bool is_cpu_tick(const siginfo_t* info) {
    return info->si_code == SI_TIMER && reinterpret_cast<uint64_t>(info->si_value.sival_ptr) == kCookie;
}

} // namespace plumb::shim
