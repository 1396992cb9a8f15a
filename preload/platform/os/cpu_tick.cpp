#include "platform/os/cpu_tick.h"

#include "platform/os/files.h"
#include "platform/os/system_call.h"
#include "platform/os/text.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/utsname.h>

namespace plumb::shim {
namespace {

constexpr uint64_t kCookie = 0x706c756d62746963; // "plumbtic"
constexpr int kTrapPerf = 6;                      // TRAP_PERF, which older headers do not name
constexpr size_t kDataOffset = 24;                // of si_perf_data in siginfo_t
constexpr long kPageBytes = 4096;                 // perf maps in pages of the processor; x86-64 only

[[maybe_unused]] bool kernel_is_at_least(uint64_t major, uint64_t minor) {
    utsname system = {};
    if (system_call(SYS_uname, word(&system)) < 0)
        return false;
    const char* dot = strchr(system.release, '.');
    const uint64_t its_major = parse_number(system.release, 0), its_minor = dot ? parse_number(dot + 1, 0) : 0;
    return its_major > major || (its_major == major && its_minor >= minor);
}

} // namespace

int start_cpu_tick(uint64_t period_ns, void** tick) {
    *tick = nullptr;
#if defined(PERF_ATTR_SIZE_VER7)
    if (!kernel_is_at_least(5, 19))
        return -ENOSYS;
    perf_event_attr event = {};
    event.size = sizeof event;
    event.type = PERF_TYPE_SOFTWARE;
    event.config = PERF_COUNT_SW_TASK_CLOCK;
    event.sample_period = period_ns;
    event.exclude_kernel = 1;
    event.exclude_hv = 1;
    event.remove_on_exec = 1;
    event.sigtrap = 1;
    event.sig_data = kCookie;
    const long descriptor = system_call(SYS_perf_event_open, word(&event), 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (descriptor < 0)
        return static_cast<int>(descriptor);
    const long page = system_call(SYS_mmap, 0, kPageBytes, PROT_READ, MAP_SHARED, descriptor, 0);
    close_file(static_cast<int>(descriptor));
    if (is_error(page))
        return static_cast<int>(page);
    *tick = reinterpret_cast<void*>(page);
    return 0;
#else
    (void)period_ns;
    return -ENOSYS;
#endif
}

void stop_cpu_tick(void* tick) {
    if (tick)
        system_call(SYS_munmap, word(tick), kPageBytes);
}

bool is_cpu_tick(const siginfo_t* info) {
    uint64_t data;
    memcpy(&data, reinterpret_cast<const char*>(info) + kDataOffset, sizeof data);
    return info->si_code == kTrapPerf && data == kCookie;
}

} // namespace plumb::shim
