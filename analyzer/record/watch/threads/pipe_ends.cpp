#include "record/watch/threads/pipe_ends.h"

#include "record/watch/threads/tcp_peers.h"
#include "record/watch/threads/unix_peers.h"

#include <algorithm>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace plumb::record {

namespace {

constexpr uint64_t kScanEvery_ns = 500'000'000; // a scan takes about 3 us for each open descriptor, 5 for one of a file
constexpr size_t kMostProcesses = 64, kMostDescriptors = 512; // of each

bool is_fifo(int folder, const char* link) {
    struct statx facts;
    return statx(folder, link, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_TYPE, &facts) == 0 && S_ISFIFO(facts.stx_mode);
}

std::string socket_name(uint64_t inode) { return "socket:[" + std::to_string(inode) + "]"; }

} // namespace

std::string descriptor_name(int folder, const char* link) {
    char target[512];
    const ssize_t length = readlinkat(folder, link, target, sizeof target);
    std::string name{target, length > 0 ? static_cast<size_t>(length) : 0};
    return name.starts_with('/') && !name.starts_with("/dev/") && is_fifo(folder, link) ? "pipe:" + name : name;
}

void PipeEnds::scan_process(uint32_t pid) {
    DIR* folder = opendir((proc_root_ + "/" + std::to_string(pid) + "/fd").c_str());
    if (!folder)
        return;
    size_t seen = 0;
    while (const dirent* entry = readdir(folder)) {
        if (entry->d_name[0] == '.')
            continue;
        if (++seen > kMostDescriptors)
            break;
        const std::string name = descriptor_name(dirfd(folder), entry->d_name);
        struct stat link;
        const bool is_socket = name.starts_with("socket:");
        if ((!is_socket && !name.starts_with("pipe:")) || fstatat(dirfd(folder), entry->d_name, &link, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        has_sockets_ |= is_socket;
        std::vector<End>& ends = ends_[name];
        if (ends.empty() || ends.back().pid != pid)
            ends.push_back({pid, false, false});
        ends.back().reads |= (link.st_mode & S_IRUSR) != 0;
        ends.back().writes |= (link.st_mode & S_IWUSR) != 0;
    }
    closedir(folder);
}

void PipeEnds::scan(const std::vector<uint32_t>& pids) {
    ends_.clear();
    peers_.clear();
    has_sockets_ = false;
    if (pids.size() <= kMostProcesses)
        for (const uint32_t pid : pids)
            scan_process(pid);
    if (has_sockets_)
        for (const auto& connected : {unix_socket_peers(), tcp_socket_peers()})
            for (const auto& [inode, peer] : connected)
                peers_[socket_name(inode)] = socket_name(peer);
}

// Of a socket both ends may read and write; the other end has a name of its own.
PipeEnds::Peers PipeEnds::peers_of(uint32_t pid, const std::string& pipe, bool writes, const std::vector<uint32_t>& pids,
                                   uint64_t now_ns) {
    if (scanned_ns_ == 0 || now_ns - scanned_ns_ >= kScanEvery_ns) {
        scan(pids);
        scanned_ns_ = now_ns;
    }
    Peers peers{};
    size_t count = 0;
    const auto peer = peers_.find(pipe);
    if (const auto found = ends_.find(peer == peers_.end() ? pipe : peer->second);
        found != ends_.end() && (peer != peers_.end() || pipe.starts_with("pipe:")))
        for (const End& end : found->second) {
            if (end.pid == pid || !(writes ? end.reads : end.writes))
                continue;
            if (count == peers.size())
                return {};
            peers[count++] = end.pid;
        }
    return peers;
}

} // namespace plumb::record
