// Where samples of the program's time may come from.
#include "platform/probes/probe.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fmt/core.h>
#include <fstream>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace plumb::platform {

namespace {

using State = ProbeResult::State;

std::string setting(const char* path) {
    std::ifstream file(path);
    std::string text;
    return std::getline(file, text) ? text : "unreadable";
}

// Spends about `milliseconds` of CPU time, half of it in system calls so that kernel samples have a chance.
void spend_cpu(long milliseconds) {
    timespec begin{}, now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do {
        for (int call = 0; call < 100; ++call)
            syscall(SYS_getppid);
        for (int turn = 0; turn < 10000; ++turn)
            asm volatile("" ::: "memory"); // keeps the loop
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < milliseconds);
}

struct Sampled {
    int error = 0; // errno of the step that failed
    const char* step = "";
    long user = 0, kernel = 0;
};

// Samples this thread at 4 kHz for 20 ms of CPU time and counts what arrives in the ring.
Sampled sample_self(bool exclude_kernel) {
    Sampled result;
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = PERF_COUNT_SW_CPU_CLOCK;
    attributes.freq = 1;
    attributes.sample_freq = 4000;
    attributes.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN;
    attributes.exclude_kernel = exclude_kernel;
    attributes.exclude_hv = 1;
    attributes.disabled = 1;
    const int event = static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
    if (event < 0)
        return {errno, "perf_event_open", 0, 0};
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t data_bytes = 16 * page;
    void* ring = mmap(nullptr, page + data_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
    if (ring == MAP_FAILED) {
        result = {errno, "mmap of the ring", 0, 0};
        close(event);
        return result;
    }
    ioctl(event, PERF_EVENT_IOC_ENABLE, 0);
    spend_cpu(20);
    ioctl(event, PERF_EVENT_IOC_DISABLE, 0);
    auto* control = static_cast<perf_event_mmap_page*>(ring);
    const char* data = static_cast<const char*>(ring) + page;
    const uint64_t head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
    for (uint64_t at = 0; at < head && head <= data_bytes;) {
        perf_event_header header;
        memcpy(&header, data + at, sizeof header);
        if (header.size == 0)
            break;
        if (header.type == PERF_RECORD_SAMPLE)
            ++((header.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL ? result.kernel : result.user);
        at += header.size;
    }
    munmap(ring, page + data_bytes);
    close(event);
    return result;
}

ProbeResult perf_user() {
    const Sampled sampled = sample_self(true);
    if (sampled.error)
        return {State::missing,
                fmt::format("{}: {} (perf_event_paranoid is {})", sampled.step, strerror(sampled.error),
                            setting(kPerfSetting)),
                "sysctl kernel.perf_event_paranoid=2, or allow perf_event_open in the container's seccomp profile"};
    if (sampled.user == 0)
        return {State::missing, "events open, but no sample arrived in 20 ms of CPU time", ""};
    return {State::ok, fmt::format("{} samples in 20 ms of CPU time", sampled.user + sampled.kernel), ""};
}

ProbeResult perf_kernel() {
    const Sampled sampled = sample_self(false);
    if (sampled.error)
        return {State::missing,
                fmt::format("{}: {} (perf_event_paranoid is {})", sampled.step, strerror(sampled.error),
                            setting(kPerfSetting)),
                "sysctl kernel.perf_event_paranoid=1, or give plumb CAP_PERFMON"};
    if (sampled.kernel == 0)
        return {State::limited, "events open, but no sample hit the kernel", ""};
    return {State::ok, fmt::format("{} of {} samples hit system calls", sampled.kernel,
                                   sampled.kernel + sampled.user), ""};
}

ProbeResult perf_rings() {
    rlimit limit{};
    getrlimit(RLIMIT_MEMLOCK, &limit);
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    return {State::ok,
            fmt::format("perf_event_mlock_kb {} for each of {} CPUs, RLIMIT_MEMLOCK {}",
                        setting("/proc/sys/kernel/perf_event_mlock_kb"), cpus,
                        limit.rlim_cur == RLIM_INFINITY ? std::string("unlimited")
                                                        : fmt::format("{} KiB", limit.rlim_cur / 1024)),
            ""};
}

volatile sig_atomic_t ticks;
void count_tick(int) { ticks = ticks + 1; }

ProbeResult timer_sampling() {
    const int status = run_in_child([] {
        struct sigaction action {};
        action.sa_handler = count_tick;
        sigaction(SIGRTMAX, &action, nullptr);
        sigevent event{};
        event.sigev_notify = SIGEV_THREAD_ID;
        event.sigev_signo = SIGRTMAX;
        event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
        timer_t timer;
        if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0)
            return 100;
        const itimerspec period{{0, 4000000}, {0, 4000000}};
        timer_settime(timer, 0, &period, nullptr);
        spend_cpu(60);
        return static_cast<int>(ticks);
    });
    if (status == 100 || status < 0)
        return {State::missing, "timer_create on the thread's CPU clock was refused", ""};
    if (status == 0)
        return {State::missing, "the timer was created, but never fired in 60 ms of CPU time", ""};
    return {State::ok, fmt::format("{} signals in 60 ms of CPU time at 250 Hz", status), ""};
}

ProbeResult hardware_counters() {
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_HARDWARE;
    attributes.config = PERF_COUNT_HW_CPU_CYCLES;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    const int event = static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
    if (event < 0)
        return {State::missing, fmt::format("perf_event_open of CPU cycles: {}", strerror(errno)),
                errno == ENOENT || errno == EOPNOTSUPP
                    ? "a virtual machine with a virtual PMU, or bare metal; plumb does not need it"
                    : "sysctl kernel.perf_event_paranoid=2"};
    spend_cpu(5);
    uint64_t cycles = 0;
    const bool read_ok = read(event, &cycles, sizeof cycles) == sizeof cycles;
    close(event);
    if (!read_ok || cycles == 0)
        return {State::missing, "the cycle counter opens but does not count", "a virtual PMU, or bare metal"};
    return {State::ok, fmt::format("{} cycles counted", cycles), ""};
}

constexpr Probe kSamplingProbes[] = {
    {"perf-sampling", "where time goes, by source line; the modules of every process", perf_user},
    {"perf-kernel", "kernel time by system call and fault", perf_kernel},
    {"perf-rings", "room for samples", perf_rings},
    {"timer-sampling", "sampling where perf events are forbidden", timer_sampling},
    {"pmu", "hardware counters", hardware_counters},
};

} // namespace

std::span<const Probe> sampling_probes() { return kSamplingProbes; }

} // namespace plumb::platform
