// One trace file, written through a shared mapping: what was stored survives any death of the process.
//
// What must hold:
//  - No descriptor stays open: programs close, count and reuse descriptors. The file is opened by its path for
//    the moment of growing and closed again.
//  - Blocks are reserved on the disk before they are mapped (a full disk must never raise SIGBUS in the program).
//  - The whole limit is reserved as address space at creation, so the file never moves while it grows.
//  - A file that cannot grow any more is marked kFull; what finds no room is counted; the program runs on. Where only
//    descriptors or memory are short, growing is tried again later, at growing intervals.
//  - Nobody but the process that writes a file may cut it: whoever looks from outside cannot know that a writer has
//    ended (other PID namespaces, no /proc, a first thread that ended before the others), and a store behind the end
//    of a mapped file is a SIGBUS in the program. A process that was killed leaves its file as long as it was.
// Signal-safe except create(). Thread-safe. errno is untouched.
#pragma once

#include "platform/os/futex_lock.h"

#include <atomic>
#include <limits.h>
#include <plumb/trace_format.h>
#include <stddef.h>
#include <stdint.h>

namespace plumb::shim {

class MappedTrace {
  public:
    static constexpr uint64_t kFirstBytes = 64 * 1024; // a run may have thousands of short processes

    // Creates DIRECTORY/process-<pid>-<start ticks>.plumb with mode 0600; a later image of the same process (after
    // exec) finds that name taken and gets process-<pid>-<start ticks>.<n>.plumb. Returns 0 or a negative error
    // number. May be called again for another file: the former one stays mapped unless `abandon_former`, which
    // puts private memory in its place (a forked child: nothing stale may write to its parent's file).
    int create(const char* directory, uint32_t pid, uint64_t start_ticks, uint64_t limit_bytes, bool abandon_former);

    // A new chunk of `wanted` bytes, or fewer but at least `least` (both with its header) where the limit is near.
    // Null: no room.
    trace::ChunkHeader* allot(uint32_t least, uint32_t wanted, uint32_t tid);

    void count_dropped(uint64_t records);
    void add_own_cost(uint64_t ns);
    uint64_t own_cost_ns() const;
    // Cuts the file to what was handed out, so that space reserved in advance is given back, and marks it kClosed.
    // Nothing new is handed out from here on; what was handed out may still be written.
    void mark_closed(uint64_t now_ns);
    void stop_growing(); // for good: marks the file kFull once it would have to
    void mark_open(); // takes mark_closed back

    uint64_t limit_bytes() const { return limit_bytes_; }
    const char* path() const { return path_; }

  private:
    bool ensure_mapped(uint64_t bytes);
    int open_again() const;
    int grow_to(uint64_t bytes, int descriptor);
    void try_again_later();
    void cut();
    trace::FileHeader* header() const { return reinterpret_cast<trace::FileHeader*>(base_); }

    char path_[PATH_MAX] = {};
    char* base_ = nullptr;
    uint64_t limit_bytes_ = 0; // of the whole file, and of the reserved address space
    uint64_t device_ = 0;
    uint64_t inode_ = 0;
    uint64_t mapped_bytes_ = 0;   // changed under growing_, as the next one
    uint64_t reserved_bytes_ = 0; // of the file: blocks that exist
    std::atomic<uint64_t> usable_bytes_{0}; // both mapped and reserved
    std::atomic<uint32_t> allotting_{0}; // threads that may be about to use what they found usable
    std::atomic<bool> closed_{false};
    FutexLock growing_{};
    std::atomic<bool> cannot_grow_{false};
    std::atomic<uint64_t> grow_again_ns_{0}; // after a temporary failure: not before that time
    std::atomic<uint64_t> patience_ns_{0};   // what was waited for after the last one
};

} // namespace plumb::shim
