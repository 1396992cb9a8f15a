#include "diagnoses/kernel/kernel_advice.h"

#include <algorithm>
#include <initializer_list>

namespace plumb {

namespace {

struct Rule {
    std::initializer_list<const char*> calls;
    const char *what, *how, *applies;
};

constexpr std::initializer_list<const char*> kMemoryCalls = {"mmap", "munmap", "brk", "sbrk", "mremap", "madvise", "mprotect"};

const Rule kRules[] = {
    {{"read", "readv", "pread", "preadv", "recv", "recvfrom", "recvmsg"},
     "Read more at a time", "fewer calls with larger buffers (64 KiB and more), readahead, or mmap", "code"},
    {{"write", "writev", "pwrite", "pwritev", "send", "sendto", "sendmsg"},
     "Write more at a time",
     "collect small pieces in a buffer (64 KiB and more); no flush or std::endl after each line", "code"},
    {{"fsync", "fdatasync", "msync", "sync_file_range"},
     "Synchronise less often", "one call for a batch of changes: a transaction around many inserts", "code"},
    {{"futex"}, "Wait less for one another",
     "threads sleep and wake in locks and condition variables: hold locks for shorter, split them, hand over larger "
     "pieces of work", "code"},
    {{"sched_yield"}, "Do not spin with sched_yield", "wait on a condition variable, a futex or a semaphore", "code"},
    {{"nanosleep", "clock_nanosleep", "usleep", "poll", "select", "epoll_wait", "ppoll", "pselect", "epoll_pwait"},
     "Poll less often", "wait for the event with a longer timeout instead of asking again and again", "code"},
    {kMemoryCalls,
     "Keep memory instead of giving it back",
     "reuse large buffers, or raise the thresholds of what manages them, so that memory is not returned at once", "launch"},
    {{"open", "openat", "close", "stat", "fstat", "lstat", "fstatat", "statx", "access", "faccessat", "readlink",
      "getdents"},
     "Touch fewer files", "open once and keep it; shorten search paths; one archive instead of many small files", "code"},
    {{"clock_gettime", "gettimeofday", "times", "getrusage", "time"},
     "Ask for the time less often",
     "a clock that needs the kernel costs 10 times more than the vDSO's: see the current clocksource under "
     "/sys/devices/system/clocksource", "system"},
    {{"clone", "clone3", "fork", "vfork", "execve", "exit", "wait4", "waitid", "waitpid", "posix_spawn", "exit_group"},
     "Start fewer processes and threads", "keep workers in a pool; call a library instead of a program", "code"},
};

std::string tuned(const std::string& command) {
    return command.empty() ? command
                           : "GLIBC_TUNABLES=glibc.malloc.mmap_threshold=1073741824:"
                             "glibc.malloc.trim_threshold=4294967296 plumb run -- " + command;
}

std::vector<Advice> fault_advice(const std::string& command, FaultSource faults) {
    if (faults == FaultSource::process_starts)
        return {{"Start fewer processes",
                 "each takes its page faults for its code and its first data, however short it lives: let one do the work of "
                 "many, keep workers, call a library instead of a program", "code", ""}};
    std::vector<Advice> advice = {{"Reuse memory instead of asking for fresh pages",
                                   "each page costs a fault at its first touch: keep large buffers, do not allocate and free "
                                   "them in every round", "code", ""}};
    if (faults == FaultSource::own_mappings) {
        advice.push_back({"Let what manages the memory keep it",
                          "malloc gave out less than half of this memory: the program or its run-time system maps it itself, and "
                          "its own settings say when it is touched first and how long it is kept (Java: -Xms as large as "
                          "-Xmx, -XX:+AlwaysPreTouch)", "launch", ""});
        advice.push_back({"Use huge pages",
                          "one fault for 2 MiB instead of 512: by such a setting (Java: -XX:+UseTransparentHugePages), or for all "
                          "programs in /sys/kernel/mm/transparent_hugepage/enabled", "launch", ""});
    } else {
        advice.push_back({"Let the allocator keep freed memory", "larger thresholds: free() then returns nothing to the kernel",
                          "launch", tuned(command)});
        advice.push_back({"Use huge pages", "one fault for 2 MiB instead of 512: transparent huge pages for the whole heap",
                          "launch", command.empty() ? command : "GLIBC_TUNABLES=glibc.malloc.hugetlb=1 plumb run -- " + command});
    }
    return advice;
}

} // namespace

bool is_memory_call(std::string_view call) {
    for (const char* name : kMemoryCalls)
        if (call == name)
            return true;
    return false;
}

std::vector<Advice> kernel_advice(const KernelCause& cause, const std::string& command, FaultSource faults) {
    if (cause.kind == KernelCause::Kind::page_fault)
        return fault_advice(command, faults);
    if (cause.of_mpi)
        return {{"See what the ranks wait for",
                 "an MPI library polls while its rank waits, and yields the CPU where ranks share it; it reads and maps files when "
                 "it starts: none of that is the program's to change", "code", ""}};
    if (cause.kind == KernelCause::Kind::interrupt)
        return {{"Find the device", "see which lines of /proc/interrupts grow; move its interrupts to CPUs that the run "
                 "does not use (/proc/irq/N/smp_affinity_list)", "system", ""}};
    for (const Rule& rule : kRules)
        if (std::any_of(rule.calls.begin(), rule.calls.end(), [&](const char* call) { return cause.name == call; }))
            return {{rule.what, rule.how, rule.applies,
                     std::string(rule.applies) == "launch" && faults != FaultSource::own_mappings ? tuned(command)
                                                                                                   : std::string()}};
    return {{"Call it less often", "see the lines above for who calls it", "code", ""}};
}

} // namespace plumb
