// What the hunt for unaligned accesses stands on: the CPU's trap, the kernel's ways to arm it again and to change code
// under running threads, registers with time samples, and the kernel's own counts.
#include "platform/code/memory_instruction.h" // of the shim: its decoder
#include "platform/probes/probe.h"
#include "platform/read_file.h"
#include "platform/split_lock_setting.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fmt/core.h>
#include <linux/membarrier.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace plumb::platform {

namespace {

using State = ProbeResult::State;

#if defined(__x86_64__)
// AC stays set in the handler: cleared first, or the handler's own accesses trap.
void ended_by_trap(int, siginfo_t* info, void*) {
    asm volatile("lea -128(%%rsp), %%rsp; pushfq; andl $0xfffbffff, (%%rsp); popfq; lea 128(%%rsp), %%rsp"
                 :
                 :
                 : "memory", "cc");
    _exit(info->si_code == BUS_ADRALN ? 42 : 43);
}

ProbeResult alignment_trap() {
    const int status = run_in_child([] {
        struct sigaction action {};
        action.sa_sigaction = ended_by_trap;
        action.sa_flags = SA_SIGINFO;
        sigaction(SIGBUS, &action, nullptr);
        alignas(8) char bytes[16] = {};
        // EFLAGS.AC is bit 18; the load behind it is one byte off. The red zone is stepped over.
        asm volatile("lea -128(%%rsp), %%rsp; pushfq; orl $0x40000, (%%rsp); popfq; movl 1(%0), %%eax;"
                     "pushfq; andl $0xfffbffff, (%%rsp); popfq; lea 128(%%rsp), %%rsp"
                     :
                     : "r"(bytes)
                     : "eax", "memory", "cc");
        return 0;
    });
    if (status == 42)
        return {State::ok, "an unaligned load with EFLAGS.AC set raised SIGBUS (BUS_ADRALN)", ""};
    return {State::missing,
            status == 0 ? std::string("an unaligned load with EFLAGS.AC set did not trap")
                        : fmt::format("the test ended with {}", status),
            "bare metal, or a hypervisor that honours alignment checks"};
}
#else
ProbeResult alignment_trap() {
    return {State::missing, "only x86-64 has an alignment trap for user programs", ""};
}
#endif

perf_event_attr clock_event(uint64_t period_ns) {
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = PERF_COUNT_SW_CPU_CLOCK;
    attributes.sample_period = period_ns;
    attributes.exclude_kernel = attributes.exclude_hv = 1;
    attributes.disabled = 1;
    return attributes;
}

int open_own(perf_event_attr& attributes) {
    return static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

void spend_user_time(long milliseconds) {
    timespec begin{}, now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do {
        for (int turn = 0; turn < 20000; ++turn)
            asm volatile("" ::: "memory"); // keeps the loop
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < milliseconds);
}

volatile sig_atomic_t trap_tick_count;

void count_trap_tick(int, siginfo_t* info, void*) {
    if (info->si_code == SI_TIMER)
        trap_tick_count = trap_tick_count + 1;
}

// A timer of a thread's CPU time that sends SIGTRAP. Since Linux 5.11 no system call is interrupted by one.
ProbeResult trap_ticks() {
    constexpr int kRefused = 200, kNoTicks = 201; // an exit status has eight bits
    constexpr long kPeriodNs = 4'000'000;
    int major = 0, minor = 0;
    utsname system{};
    if (uname(&system) != 0 || sscanf(system.release, "%d.%d", &major, &minor) != 2 || major < 5 || (major == 5 && minor < 11))
        return {State::missing, fmt::format("Linux {}: its timers may interrupt system calls", system.release),
                "Linux 5.11 or later; until then threads are watched only at their start"};
    const int status = run_in_child([] {
        struct sigaction action {};
        action.sa_sigaction = count_trap_tick;
        action.sa_flags = SA_SIGINFO;
        sigaction(SIGTRAP, &action, nullptr);
        sigevent event{};
        event.sigev_notify = SIGEV_SIGNAL;
        event.sigev_signo = SIGTRAP;
        timer_t timer{};
        itimerspec times{};
        times.it_interval.tv_nsec = times.it_value.tv_nsec = kPeriodNs;
        if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0 || timer_settime(timer, 0, &times, nullptr) != 0)
            return kRefused;
        spend_user_time(40);
        return trap_tick_count == 0 ? kNoTicks : static_cast<int>(trap_tick_count);
    });
    if (status == kRefused || status < 0)
        return {State::missing,
                status < 0 ? fmt::format("the test was ended by signal {}", -status) : "timer_create was refused",
                "a higher limit of pending signals (ulimit -i); until then threads are watched only at their start"};
    if (status == kNoTicks)
        return {State::missing, "the timer was made, but no SIGTRAP came in 40 ms of CPU time", ""};
    return {State::ok, fmt::format("{} SIGTRAPs in 40 ms of CPU time at 250 Hz", status), ""};
}

// Changing code under running threads wants their pipelines flushed.
ProbeResult code_changes() {
    const long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
    if (commands < 0)
        return {State::missing, fmt::format("membarrier: {}", strerror(errno)),
                "a kernel with CONFIG_MEMBARRIER; in a container: allow membarrier in its seccomp profile"};
    if (!(commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE))
        return {State::missing, "membarrier offers no PRIVATE_EXPEDITED_SYNC_CORE", "Linux 4.16 or later"};
    const int status = run_in_child([] { // registering changes the process
        if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0) != 0)
            return 1;
        return syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0) == 0 ? 0 : 2;
    });
    if (status != 0)
        return {State::missing, fmt::format("membarrier lists PRIVATE_EXPEDITED_SYNC_CORE but refuses it ({})", status), ""};
    return {State::ok, "membarrier PRIVATE_EXPEDITED_SYNC_CORE was accepted", ""};
}

#if defined(__x86_64__)
constexpr uint64_t kStackRegister = uint64_t{1} << 7; // PERF_REG_X86_SP
#elif defined(__aarch64__)
constexpr uint64_t kStackRegister = uint64_t{1} << 31; // PERF_REG_ARM64_SP
#else
constexpr uint64_t kStackRegister = 0;
#endif

// Registers with time samples, and a decoder for the code they were taken in.
ProbeResult address_sampling() {
    const char* why = nullptr;
    if (!shim::load_decoder(&why))
        return {State::missing, why ? why : "no instruction decoder", "install libZydis 4.0 (Debian: libzydis4.0)"};
    perf_event_attr attributes = clock_event(1'000'000);
    attributes.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_REGS_USER;
    attributes.sample_regs_user = kStackRegister;
    const int event = open_own(attributes);
    if (event < 0)
        return {State::missing,
                fmt::format("perf_event_open with registers: {} (perf_event_paranoid is {})", strerror(errno),
                            read_number(kPerfSetting).value_or(-1)),
                "sysctl kernel.perf_event_paranoid=2, or allow perf_event_open in the container's seccomp profile"};
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE)), data_bytes = 4 * page;
    void* ring = mmap(nullptr, page + data_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
    if (ring == MAP_FAILED) {
        const int error = errno;
        close(event);
        return {State::missing, fmt::format("mmap of the ring: {}", strerror(error)), "a larger limit of locked memory"};
    }
    ioctl(event, PERF_EVENT_IOC_ENABLE, 0);
    spend_user_time(20);
    ioctl(event, PERF_EVENT_IOC_DISABLE, 0);
    struct Sample {
        perf_event_header header;
        uint64_t address, abi, stack_pointer;
    };
    const uint64_t here = reinterpret_cast<uint64_t>(&attributes);
    const uint64_t head = __atomic_load_n(&static_cast<perf_event_mmap_page*>(ring)->data_head, __ATOMIC_ACQUIRE);
    int samples = 0, with_registers = 0;
    for (uint64_t at = 0; at + sizeof(Sample) <= head && head <= data_bytes;) {
        Sample sample;
        memcpy(&sample, static_cast<const char*>(ring) + page + at, sizeof sample);
        if (sample.header.size == 0)
            break;
        if (sample.header.type == PERF_RECORD_SAMPLE) {
            constexpr uint64_t kNear = 1 << 20;
            ++samples;
            with_registers += sample.abi == PERF_SAMPLE_REGS_ABI_64 && here - sample.stack_pointer + kNear < 2 * kNear;
        }
        at += sample.header.size;
    }
    munmap(ring, page + data_bytes);
    close(event);
    if (with_registers == 0)
        return {State::missing, fmt::format("{} samples in 20 ms of CPU time, none with registers", samples), ""};
    return {State::ok,
            fmt::format("{} of {} samples carried registers; {} decodes", with_registers, samples, shim::kDecoderName), ""};
}

ProbeResult alignment_events() {
#if defined(__x86_64__)
    return {State::missing, "x86 kernels fix up no unaligned accesses: there is nothing to count", ""};
#else
    perf_event_attr attributes = clock_event(0);
    attributes.config = PERF_COUNT_SW_ALIGNMENT_FAULTS;
    attributes.exclude_kernel = 0;
    int event = open_own(attributes);
    if (event < 0) {
        attributes.exclude_kernel = 1;
        event = open_own(attributes);
    }
    if (event < 0)
        return {State::missing, fmt::format("perf_event_open of alignment-faults: {}", strerror(errno)),
                "sysctl kernel.perf_event_paranoid=2"};
    close(event);
    return {State::ok, "alignment-faults can be counted", ""};
#endif
}

ProbeResult split_locks() {
    const SplitLockSetting setting = read_split_lock_setting("");
    return {setting.detects ? State::ok : State::limited, setting.text,
            setting.detects ? "" : "a CPU and kernel with split_lock_detect=warn; plumb's alignment trap finds split locks "
                                   "without it"};
}

constexpr Probe kAlignmentProbes[] = {
    {"alignment-trap", "unaligned accesses, by source line", alignment_trap},
    {"trap-ticks", "unaligned accesses of long-running threads", trap_ticks},
    {"code-changes", "counting hot unaligned accesses without a signal", code_changes},
    {"address-sampling", "vector accesses across cache lines; the data behind slow loads", address_sampling},
    {"alignment-events", "unaligned accesses that the kernel fixes up", alignment_events},
    {"split-locks", "the kernel's setting for split locks", split_locks},
};

} // namespace

std::span<const Probe> alignment_probes() { return kAlignmentProbes; }

} // namespace plumb::platform
