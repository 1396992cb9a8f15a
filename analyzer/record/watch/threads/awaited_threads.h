// Who goes on while a thread waits for it (WaitedFor records): at each look, each blocked thread that waits for few others of
// the run, paired with those.
#pragma once

#include "record/run/node_trace_writer.h"
#include "record/watch/threads/wall_time.h"

#include <compare>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace plumb::record {

inline constexpr size_t kMostAwaited = 4; // a thread that waits for more waits for no one in particular

class AwaitedThreads {
  public:
    // `most_bytes_each`: of the file for the waiting threads of one process.
    AwaitedThreads(NodeTraceWriter& file, uint64_t most_bytes_each) : file_(file), most_bytes_each_(most_bytes_each) {}

    // Counts one look, of all threads that are living. Returns the pairs that it found.
    std::vector<LookedAtPair> write(uint64_t now_ns, const std::vector<LookedAt>& threads);

    void forget(uint32_t pid);        // it ended
    void forget_places(uint32_t pid); // it executed another program

  private:
    struct Key {
        const trace::BlockedSite* site; // where the one waits
        uint32_t peer_pid, peer_tid, peer_path;
        auto operator<=>(const Key&) const = default;
    };
    struct Process {
        uint64_t bytes = 0;
        std::map<Key, trace::WaitedFor*> records;
    };
    trace::WaitedFor* record_of(uint64_t now_ns, const LookedAt& waiting, const LookedAt& peer, trace::NodeId peer_path);

    NodeTraceWriter& file_;
    const uint64_t most_bytes_each_;
    std::unordered_map<uint32_t, Process> processes_; // by pid of the one that waits
};

} // namespace plumb::record
