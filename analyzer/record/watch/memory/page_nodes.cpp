#include "record/watch/memory/page_nodes.h"

#include <cerrno>
#include <cstring>
#include <sys/syscall.h>
#include <unistd.h>

namespace plumb::record {

static_assert(sizeof(void*) == sizeof(uint64_t), "addresses are handed to the kernel as they are");

int look_up_page_nodes(uint32_t pid, std::span<const uint64_t> addresses, std::span<int> nodes) {
    if (syscall(SYS_move_pages, static_cast<pid_t>(pid), addresses.size(), addresses.data(), nullptr, nodes.data(), 0) < 0)
        return errno;
    return 0;
}

std::string why_no_page_nodes(const PageNodeLookup& look_up) {
    uint64_t touched = 1; // a page that is certainly there
    const uint64_t address = reinterpret_cast<uint64_t>(&touched);
    int node = -1;
    const int error = look_up(static_cast<uint32_t>(getpid()), {&address, 1}, {&node, 1});
    if (error != 0)
        return std::string("the NUMA nodes of pages are not known (move_pages: ") + std::strerror(error) + ")";
    return {};
}

} // namespace plumb::record
