// Who holds a lock while others wait for it, and what the holder does meanwhile (LockHolder records).
//
// A holder that is blocked itself is seen where it is. One that runs is known by its time samples, and only by those of which it
// is certain that it held the lock then. Whoever gives up a lock for which threads wait wakes one of them. So nobody gave it up
// since the last of those that a look finds waiting began to wait, and since the holder itself last woke up, unless some thread
// was woken and has had no CPU yet.
#pragma once

#include "record/run/node_trace_writer.h"
#include "record/watch/threads/wall_time.h"

#include <compare>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace plumb::record {

class LockHolders {
  public:
    // `most_bytes_each`: of the file for one process.
    LockHolders(NodeTraceWriter& file, uint64_t most_bytes_each) : file_(file), most_bytes_each_(most_bytes_each) {}

    // Counts one look, of all threads that are living, and fills in LookedAt::holder of those that wait for a lock.
    void write(uint64_t now_ns, std::vector<LookedAt>& threads);

    void forget(uint32_t pid) { processes_.erase(pid); } // it ended
    void forget_places(uint32_t pid);                    // it executed another program

  private:
    struct Key {
        uint32_t tid, path;
        uint64_t object;
        uint32_t holder, holder_path;
        int holder_call;
        uint32_t flags;
        auto operator<=>(const Key&) const = default;
    };
    struct Process {
        uint64_t bytes = 0;
        std::map<Key, trace::LockHolder*> records;
    };
    trace::LockHolder* record_of(uint64_t now_ns, uint32_t pid, const Key& key);

    NodeTraceWriter& file_;
    const uint64_t most_bytes_each_;
    std::unordered_map<uint32_t, Process> processes_; // by pid
};

} // namespace plumb::record
