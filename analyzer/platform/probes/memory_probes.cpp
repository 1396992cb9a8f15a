// What can be learned about where memory is and how it is accessed.
#include "platform/probes/probe.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fmt/core.h>
#include <fstream>
#include <string>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace plumb::platform {

namespace {

using State = ProbeResult::State;

int memory_node_count() {
    int nodes = 0;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/sys/devices/system/node", error)) {
        const std::string name = entry.path().filename();
        nodes += name.starts_with("node") && name.find_first_not_of("0123456789", 4) == std::string::npos;
    }
    return nodes;
}

ProbeResult numa() {
    const int nodes = memory_node_count();
    if (nodes == 0)
        return {State::missing, "/sys/devices/system/node lists no memory node", "a kernel with CONFIG_NUMA"};
    if (nodes == 1)
        return {State::limited, "one memory node: nothing can be remote here", ""};
    return {State::ok, fmt::format("{} memory nodes", nodes), ""};
}

// Asks for the node of a page of another process, as the recorder does.
ProbeResult page_nodes() {
    void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return {State::missing, "no memory for the trial", ""};
    *static_cast<volatile char*>(page) = 1;
    int pipes[2];
    if (pipe(pipes) != 0)
        return {State::missing, fmt::format("pipe: {}", strerror(errno)), ""};
    const pid_t child = fork();
    if (child == 0) {
        close(pipes[1]);
        char byte;
        *static_cast<volatile char*>(page) = 2; // a page of its own
        [[maybe_unused]] const auto ended = read(pipes[0], &byte, 1); // until the parent closes
        _exit(0);
    }
    close(pipes[0]);
    usleep(2000);
    int status = -1;
    const long result = syscall(SYS_move_pages, child, 1ul, &page, nullptr, &status, 0);
    const int error = errno;
    close(pipes[1]);
    munmap(page, 4096);
    if (result != 0)
        return {State::missing, fmt::format("move_pages on a child: {}", strerror(error)),
                "allow move_pages in the container's seccomp profile (needs CAP_SYS_NICE there)"};
    if (status < 0)
        return {State::limited, fmt::format("move_pages on a child answered {} for a page in use", status), ""};
    return {State::ok, fmt::format("a child's page is on node {}", status), ""};
}

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
            status == 0 ? std::string("an unaligned load with EFLAGS.AC set went through: this machine does not trap")
                        : fmt::format("the trial ended with {}", status),
            "bare metal, or a hypervisor that honours alignment checks"};
}
#else
ProbeResult alignment_trap() {
    return {State::missing, "only x86-64 has an alignment trap for user programs", ""};
}
#endif

ProbeResult split_locks() {
    std::ifstream info("/proc/cpuinfo");
    bool detects = false;
    for (std::string line; std::getline(info, line);)
        if (line.starts_with("flags"))
            detects |= line.find(" split_lock_detect") != std::string::npos;
    std::ifstream mitigate("/proc/sys/kernel/split_lock_mitigate");
    std::string value;
    std::getline(mitigate, value);
    if (!detects)
        return {State::limited, "the kernel does not detect split locks here (no split_lock_detect in /proc/cpuinfo)",
                "a CPU and kernel with split_lock_detect=warn"};
    return {State::ok, fmt::format("split_lock_detect is on, split_lock_mitigate={}", value.empty() ? "?" : value), ""};
}

constexpr Probe probes[] = {
    {"numa", "whether memory can be remote at all", numa},
    {"page-nodes", "which node a page of the program is on", page_nodes},
    {"alignment-trap", "unaligned accesses, by source line", alignment_trap},
    {"split-locks", "the kernel's own word on split locks", split_locks},
};

} // namespace

std::span<const Probe> memory_probes() { return probes; }

} // namespace plumb::platform
