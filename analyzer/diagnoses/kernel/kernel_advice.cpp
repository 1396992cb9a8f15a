#include "diagnoses/kernel/kernel_advice.h"

#include <algorithm>
#include <initializer_list>

namespace plumb {

namespace {

struct Rule {
    std::initializer_list<const char*> calls;
    const char *what, *how, *applies;
};

constexpr std::initializer_list<const char*>
    kReadCalls = {"read", "readv", "pread", "pread64", "preadv", "preadv2", "recv", "recvfrom", "recvmsg", "recvmmsg"},
    kWriteCalls = {"write", "writev", "pwrite", "pwrite64", "pwritev", "pwritev2", "send", "sendto", "sendmsg", "sendmmsg"},
    kCopyCalls = {"sendfile", "splice", "copy_file_range", "process_vm_readv", "process_vm_writev"};
constexpr std::initializer_list<const char*> kMemoryCalls = {"mmap", "munmap", "brk", "sbrk", "mremap", "madvise", "mprotect"};

const Rule kRules[] = {
    {kReadCalls,
     "Read more at a time", "fewer calls with larger buffers (64 KiB and more), readahead, or mmap", "code"},
    {kWriteCalls,
     "Write more at a time",
     "collect small pieces in a buffer (64 KiB and more); no flush or std::endl after each line", "code"},
    {{"fsync", "fdatasync", "msync", "sync_file_range"},
     "Synchronise less often", "one call for a batch of changes: a transaction around many inserts", "code"},
    {{"futex"}, "Wait less for one another",
     "threads sleep and wake in locks and condition variables: hold locks for a shorter time, split them, or hand over larger "
     "pieces of work", "code"},
    {{"sched_yield"}, "Do not spin with sched_yield", "wait on a condition variable, a futex or a semaphore", "code"},
    {{"nanosleep", "clock_nanosleep", "usleep", "poll", "select", "epoll_wait", "ppoll", "pselect", "epoll_pwait"},
     "Poll less often", "wait for the event with a longer timeout instead of checking repeatedly", "code"},
    {kMemoryCalls,
     "Keep memory instead of giving it back",
     "reuse large buffers, or raise the thresholds of the allocator, so that it does not return memory at once", "launch"},
    {{"open", "openat", "close", "stat", "fstat", "lstat", "fstatat", "statx", "access", "faccessat", "readlink",
      "getdents"},
     "Touch fewer files", "open files once and keep them open; shorten search paths; use one archive instead of many small "
                          "files", "code"},
    {{"clock_gettime", "gettimeofday", "times", "getrusage", "time"},
     "Ask for the time less often",
     "a clock that needs a system call costs about 10 times as much as one of the vDSO: check the current clocksource under "
     "/sys/devices/system/clocksource", "system"},
    {{"clone", "clone3", "fork", "vfork", "execve", "exit", "wait4", "waitid", "waitpid", "posix_spawn", "exit_group"},
     "Start fewer processes and threads", "keep workers in a pool; call a library instead of a program", "code"},
};

bool is_one_of(std::string_view call, std::initializer_list<const char*> calls) {
    return std::any_of(calls.begin(), calls.end(), [&](const char* name) { return call == name; });
}

std::string tuned(const std::string& command) {
    return command.empty() ? command
                           : "GLIBC_TUNABLES=glibc.malloc.mmap_threshold=1073741824:"
                             "glibc.malloc.trim_threshold=4294967296 plumb run -- " + command;
}

std::vector<Advice> fault_advice(const std::string& command, FaultSource faults) {
    if (faults == FaultSource::process_starts)
        return {{"Start fewer processes",
                 "each process takes page faults for its code and its first data, however short it lives: let one process do "
                 "the work of many, keep workers, or call a library instead of a program", "code", ""}};
    if (faults == FaultSource::kept)
        return {{"Use huge pages",
                 "nearly all of these pages stayed until the end, each touched for the first time once: transparent huge pages for "
                 "the whole heap take one fault for 2 MiB instead of 512", "launch",
                 command.empty() ? command : "GLIBC_TUNABLES=glibc.malloc.hugetlb=1 plumb run -- " + command},
                {"Free memory that is no longer needed, so that it is used again", "memory that is used again takes no faults",
                 "code", ""}};
    std::vector<Advice> advice = {{"Reuse memory instead of asking for fresh pages",
                                   "the first touch of each page costs a fault: keep large buffers instead of allocating and "
                                   "freeing them in every iteration", "code", ""}};
    if (faults == FaultSource::own_mappings) {
        advice.push_back({"Keep mappings",
                          "malloc allocated less than half of this memory: the program, or a library that it uses, maps it by "
                          "mmap. Map it once and use it again, instead of mapping each piece anew; MAP_POPULATE maps all pages in "
                          "one call where all are used", "code", ""});
        advice.push_back({"Use huge pages",
                          "madvise(..., MADV_HUGEPAGE) for mappings of several MiB that start at a multiple of 2 MiB: one fault "
                          "for 2 MiB instead of 512", "code", ""});
    } else if (faults == FaultSource::java) {
        advice.push_back({"Let Java keep its memory",
                          "malloc allocated less than half of this memory: the Java heap is mapped directly, and its options "
                          "decide when it is first touched and how long it is kept: -Xms as large as -Xmx, "
                          "-XX:+AlwaysPreTouch", "launch", ""});
        advice.push_back({"Use huge pages", "-XX:+UseTransparentHugePages: one fault for 2 MiB instead of 512", "launch", ""});
    } else {
        advice.push_back({"Let the allocator keep freed memory", "with larger thresholds free() returns nothing to the kernel",
                          "launch", tuned(command)});
        advice.push_back({"Use huge pages", "transparent huge pages for the whole heap take one fault for 2 MiB instead of 512",
                          "launch", command.empty() ? command : "GLIBC_TUNABLES=glibc.malloc.hugetlb=1 plumb run -- " + command});
    }
    return advice;
}

} // namespace

bool moves_data(std::string_view call) {
    return is_one_of(call, kReadCalls) || is_one_of(call, kWriteCalls) || is_one_of(call, kCopyCalls);
}

bool is_memory_call(std::string_view call) { return is_one_of(call, kMemoryCalls); }

std::vector<Advice> large_request_advice(const KernelCause& cause) {
    if (cause.name.find("read") != std::string::npos)
        return {{"Read less, or without copying",
                 "the requests are large already, so the time goes into copying: keep data that is read again in memory, or map "
                 "the file (mmap) if the program needs only parts of it", "code", ""}};
    return {{"Write less",
             "the requests are large already, so the time goes into copying: keep temporary data in memory instead of a file, write "
             "less often, or compress what is written", "code", ""}};
}

std::vector<Advice> kernel_advice(const KernelCause& cause, const std::string& command, FaultSource faults) {
    if (cause.kind == KernelCause::Kind::page_fault)
        return fault_advice(command, faults);
    if (cause.maker == KernelCause::Maker::openmp)
        return {{"Check what the team waits for",
                 "an OpenMP runtime puts threads to sleep that wait, and wakes them: see the time account and the findings on OpenMP; "
                 "OMP_WAIT_POLICY and GOMP_SPINCOUNT decide how long threads spin before they sleep", "launch", ""}};
    if (cause.maker == KernelCause::Maker::mpi)
        return {{"Check what the ranks wait for",
                 "an MPI library polls while its rank waits, yields the CPU where ranks share it, and reads and maps files "
                 "when it starts; the program cannot change that", "code", ""}};
    if (cause.kind == KernelCause::Kind::interrupt)
        return {{"Find the device", "check which lines of /proc/interrupts grow; move these interrupts to CPUs that the run "
                                    "does not use (/proc/irq/N/smp_affinity_list)", "system", ""}};
    if (is_memory_call(cause.name) && faults == FaultSource::own_mappings)
        return {{"Keep mappings",
                 "the program, or a library that it uses, maps memory by mmap, and gives it back: map it once and use it again; "
                 "each new mapping also takes its page faults again", "code", ""}};
    if (is_memory_call(cause.name) && faults == FaultSource::java)
        return {{"Let Java keep its memory", "options decide how long the Java heap is kept: -Xms as large as -Xmx", "launch", ""}};
    for (const Rule& rule : kRules)
        if (std::any_of(rule.calls.begin(), rule.calls.end(), [&](const char* call) { return cause.name == call; }))
            return {{rule.what, rule.how, rule.applies,
                     std::string(rule.applies) == "launch" ? tuned(command) : std::string()}};
    return {{"Call it less often", "the lines above call it", "code", ""}};
}

} // namespace plumb
