// What can be learned about where memory is.
#include "platform/probes/probe.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/core.h>
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
        return {State::missing, "/sys/devices/system/node lists no NUMA node", "a kernel with CONFIG_NUMA"};
    if (nodes == 1)
        return {State::limited, "one NUMA node: no memory is remote here", ""};
    return {State::ok, fmt::format("{} NUMA nodes", nodes), ""};
}

// Asks for the node of a page of another process, as the recorder does.
ProbeResult page_nodes() {
    void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return {State::missing, "memory for the test could not be allocated", ""};
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
        return {State::limited, fmt::format("move_pages on a child returned {} for a page in use", status), ""};
    return {State::ok, fmt::format("a child's page is on node {}", status), ""};
}

constexpr Probe kMemoryProbes[] = {
    {"numa", "whether memory can be remote", numa},
    {"page-nodes", "which node a page of the program is on", page_nodes},
};

} // namespace

std::span<const Probe> memory_probes() { return kMemoryProbes; }

} // namespace plumb::platform
