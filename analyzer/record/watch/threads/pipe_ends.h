// Which processes of the run have the other end of a pipe, of a FIFO, or of a UNIX domain or TCP socket, open, from the links in
// /proc/PID/fd: their targets name the pipe, their modes say who may read and who may write.
#pragma once

#include "record/watch/threads/wait_chain.h"

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace plumb::record {

// What a link of /proc/PID/fd refers to: "/a/file", "pipe:[4711]", "pipe:/a/fifo", "socket:[12]"; empty: not known. `folder`: a
// descriptor of the folder that the link is in. The file is not asked for what only a remote server knows.
std::string descriptor_name(int folder, const char* link);

class PipeEnds {
  public:
    using Peers = std::array<uint32_t, ThreadMoment::kMostPeers>; // process ids, the first ones that are not 0

    explicit PipeEnds(std::string proc_root) : proc_root_(std::move(proc_root)) {}

    // Of the processes `pids`, those besides `pid` that can write to the pipe that it reads, or read from the one that it
    // writes to (`writes`). None: no one can, or so many that none of them is the one. `pipe`: as descriptor_name() has it.
    Peers peers_of(uint32_t pid, const std::string& pipe, bool writes, const std::vector<uint32_t>& pids, uint64_t now_ns);

  private:
    struct End {
        uint32_t pid;
        bool reads, writes;
    };
    void scan(const std::vector<uint32_t>& pids);
    void scan_process(uint32_t pid);

    const std::string proc_root_;
    std::unordered_map<std::string, std::vector<End>> ends_; // as the latest scan found them
    std::unordered_map<std::string, std::string> peers_;     // of connected sockets
    bool has_sockets_ = false;
    uint64_t scanned_ns_ = 0;
};

} // namespace plumb::record
