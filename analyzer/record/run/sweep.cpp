#include "record/run/sweep.h"

#include "platform/cpu_list.h"
#include "platform/node_stat.h"
#include "platform/read_file.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/mempolicy.h>
#include <optional>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace plumb::record {

namespace {

constexpr uint64_t kStep = 16u << 20;        // bytes touched between two looks at the node
constexpr uint64_t kPatience = 8;            // steps without room of their own in which the cache may fail to shrink
constexpr uint64_t kLeftParts = 50;          // 1/50 of a node's memory may stay cached

double now_s() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

std::optional<platform::NodeMemoryStat> look_at(int node, const std::string& proc_root, const std::string& sys_root) {
    for (const platform::NodeMemoryStat& memory : platform::read_node_memory(proc_root, sys_root))
        if (memory.node == node)
            return memory;
    return std::nullopt;
}

// Nodes that this process may allocate on; nothing where the kernel does not say.
std::optional<std::vector<int>> allowed_nodes(const std::string& proc_root) {
    const auto status = platform::read_file(proc_root + "/self/status");
    std::string_view rest = status ? std::string_view(*status) : std::string_view();
    while (!rest.empty()) {
        std::string_view line = platform::next_line(rest);
        if (platform::next_word(line) == "Mems_allowed_list:")
            return platform::parse_cpu_list(platform::next_word(line));
    }
    return std::nullopt;
}

// One step of memory on `node`, touched; false: there is none.
bool touch_step(int node) {
    void* const place = mmap(nullptr, kStep, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED)
        return false;
    std::vector<unsigned long> mask(static_cast<size_t>(node) / 64 + 1);
    mask.back() = 1ul << (static_cast<size_t>(node) % 64);
    // Refused where the kernel knows no nodes: then there is one, and it is this.
    syscall(SYS_mbind, place, kStep, MPOL_BIND, mask.data(), mask.size() * 64 + 1, 0);
    const long page = sysconf(_SC_PAGESIZE);
    for (uint64_t at = 0; at < kStep; at += static_cast<uint64_t>(page))
        static_cast<volatile char*>(place)[at] = 1;
    return true; // kept until this process ends
}

void sweep_one(int node, uint64_t most_bytes, double until_s, const std::string& proc_root, const std::string& sys_root) {
    uint64_t least_file = UINT64_MAX, in_vain = 0;
    for (uint64_t touched = 0; touched + kStep <= most_bytes && now_s() < until_s; touched += kStep) {
        const auto memory = look_at(node, proc_root, sys_root);
        if (!memory || touched + kStep > memory->total_bytes || memory->file_bytes <= memory->total_bytes / kLeftParts)
            return;
        const bool has_room = memory->free_bytes > memory->total_bytes / kLeftParts + kStep;
        const bool shrank = memory->file_bytes + kStep / 4 <= least_file;
        if (shrank)
            least_file = memory->file_bytes;
        in_vain = has_room || shrank ? 0 : in_vain + 1;
        if (in_vain > kPatience || !touch_step(node))
            return;
    }
}

// A process of its own: all that it holds is given back at once, however it ends.
void sweep_in_child(int node, uint64_t most_bytes, double until_s, const std::string& proc_root,
                    const std::string& sys_root) {
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child < 0)
        return;
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(0);
        if (const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC); fd >= 0) {
            [[maybe_unused]] const auto written = write(fd, "1000", 4); // the first to go when memory runs out
            close(fd);
        }
        sweep_one(node, most_bytes, until_s, proc_root, sys_root);
        _exit(0);
    }
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
}

} // namespace

std::vector<SweptNode> sweep_nodes(const SweepLimits& limits, const std::string& proc_root, const std::string& sys_root) {
    const double until_s = now_s() + limits.most_seconds;
    const auto allowed = allowed_nodes(proc_root);
    std::vector<SweptNode> swept;
    for (const platform::NodeMemoryStat& before : platform::read_node_memory(proc_root, sys_root)) {
        if (before.total_bytes == 0 || (allowed && std::ranges::find(*allowed, before.node) == allowed->end()))
            continue;
        sweep_in_child(before.node, limits.most_bytes, until_s, proc_root, sys_root);
        const auto after = look_at(before.node, proc_root, sys_root).value_or(before);
        swept.push_back({before.node, before.file_bytes, after.file_bytes, before.free_bytes, after.free_bytes});
    }
    return swept;
}

std::string sweep_words(const std::vector<SweptNode>& nodes) {
    const auto mebibytes = [](uint64_t bytes) { return (bytes + (1 << 19)) >> 20; };
    std::string text;
    for (const SweptNode& node : nodes)
        text += fmt::format("{}node {}: {} MiB of cached files were dropped, {} MiB stayed, {} MiB are free",
                            text.empty() ? "" : "; ", node.node,
                            mebibytes(node.file_bytes_before - std::min(node.file_bytes_before, node.file_bytes_after)),
                            mebibytes(node.file_bytes_after), mebibytes(node.free_bytes_after));
    return text;
}

} // namespace plumb::record
