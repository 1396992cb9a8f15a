#include "record/mpi/tables/clock.h"

#include "platform/os/files.h"
#include "platform/os/system_call.h"

#include <string.h>
#include <sys/prctl.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace plumb::shim::mpi {

bool counter_is_clock = false;
uint32_t clock_read_ticks = 0;

namespace {
void measure_reading() {
    uint64_t shortest = UINT32_MAX;
    for (int i = 0; i < 16; ++i) {
        const uint64_t begin = ticks(), taken = ticks() - begin;
        shortest = taken < shortest ? taken : shortest;
    }
    clock_read_ticks = static_cast<uint32_t>(shortest);
}
} // namespace

#if defined(__x86_64__)
namespace {

bool counter_is_constant() {
    constexpr unsigned kPowerManagement = 0x80000007, kInvariantCounter = 1u << 8;
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(kPowerManagement, &a, &b, &c, &d) && d & kInvariantCounter;
}

// Some machines' counters differ from socket to socket: the kernel has compared them. In virtual machines it reads the
// counter through one of the hypervisor's descriptions.
bool kernel_trusts_counter() {
    char name[64] = {};
    if (read_whole_file("/sys/devices/system/clocksource/clocksource0/current_clocksource", name, sizeof name - 1) <= 0)
        return true; // no /sys: the processor's word has to do
    for (const char* trusted : {"tsc", "kvm-clock", "hyperv_clocksource_tsc_page"})
        if (strncmp(name, trusted, strlen(trusted)) == 0)
            return true;
    return false;
}

bool may_read_counter() {
    int setting = 0;
    return system_call(SYS_prctl, PR_GET_TSC, word(&setting)) != 0 || setting == PR_TSC_ENABLE;
}

} // namespace

// Several collectors ask for it. Once is enough: virtual machines leave the guest at each CPUID, which takes 10 us.
void choose_clock() {
    if (clock_read_ticks != 0)
        return;
    counter_is_clock = counter_is_constant() && kernel_trusts_counter() && may_read_counter();
    measure_reading();
}
#else
void choose_clock() { measure_reading(); }
#endif

} // namespace plumb::shim::mpi
