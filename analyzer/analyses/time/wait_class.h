// What kind of thing a blocked thread waits for, from its system call, its descriptor and the functions on its stack.
#pragma once

#include "model/call_paths.h"

#include <cstddef>
#include <string>

namespace plumb {

enum class WaitKind {
    mpi,        // inside the MPI library
    lock,       // mutex, reader-writer lock
    condition,  // condition variable or semaphore: work, or a place in a queue
    barrier,    // pthread barrier, an OpenMP team
    thread_end, // join
    futex,      // a futex of the program's own: locks and queues of Rust, Go, C++20 and others
    parked,     // a thread of the Go runtime without a goroutine to run (see Process::goroutines)
    child,      // another process: wait, vfork
    file,       // reading, writing, metadata of files
    file_sync,  // fsync and similar calls
    pipe,
    network,    // sockets
    terminal,
    events,     // poll, select, epoll: whichever event comes first
    sleep,
    signal,
    page_in,    // a page fault that reads from a file or from swap
    memory_map, // the lock of the process's address space: mmap, munmap, brk
    plumb,      // the shim's work on its own files
    other       // a system call not named above
};

// Locks of language runtimes, which keep to themselves who holds them. Each thread waits at a futex of its own, or at one that many
// locks share: the futex's address is not the lock's.
enum class RuntimeLock { none, python, java };

struct WaitClass {
    WaitKind kind = WaitKind::other;
    std::string what; // for people: "fsync of /a/file", "read from a pipe", "pthread_mutex_lock", "system call 123"
    RuntimeLock runtime = RuntimeLock::none; // of waits for a lock
};

// `process`: index into Run::processes. Not thread-safe (`paths` remembers what it looked up).
WaitClass wait_class_of(model::CallPaths& paths, size_t process, const model::BlockedSite& site);

const char* to_string(WaitKind kind);    // stable, for JSON: "file-sync"
const char* words_of(WaitKind kind);     // for people: "syncing files"

} // namespace plumb
