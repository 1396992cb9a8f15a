#include "analyses/time/wait_class.h"

#include "analyses/time/own_time.h"
#include "model/call_paths.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <span>
#include <string_view>
#include <sys/syscall.h>

namespace plumb {

namespace {

struct KindOfCall {
    int number;
    WaitKind kind;
    const char* name;
};

// The record holds the numbers of the machine that recorded. They are read as those of the machine that reports: the record
// does not say its architecture.
constexpr KindOfCall kCalls[] = {
    {SYS_wait4, WaitKind::child, "wait4"},
    {SYS_waitid, WaitKind::child, "waitid"},
    {SYS_clone, WaitKind::child, "clone"},
    {SYS_clone3, WaitKind::child, "clone3"},
    {SYS_execve, WaitKind::child, "execve"},
#ifdef SYS_vfork
    {SYS_vfork, WaitKind::child, "vfork"},
#endif
    {SYS_nanosleep, WaitKind::sleep, "nanosleep"},
    {SYS_clock_nanosleep, WaitKind::sleep, "clock_nanosleep"},
    {SYS_restart_syscall, WaitKind::sleep, "an interrupted sleep"},
#ifdef SYS_poll
    {SYS_poll, WaitKind::events, "poll"},
    {SYS_select, WaitKind::events, "select"},
    {SYS_epoll_wait, WaitKind::events, "epoll_wait"},
    {SYS_pause, WaitKind::signal, "pause"},
    {SYS_unlink, WaitKind::file, "unlink"},
    {SYS_rename, WaitKind::file, "rename"},
    {SYS_mkdir, WaitKind::file, "mkdir"},
    {SYS_open, WaitKind::file, "open"},
    {SYS_stat, WaitKind::file, "stat"},
    {SYS_lstat, WaitKind::file, "lstat"},
#endif
    {SYS_ppoll, WaitKind::events, "ppoll"},
    {SYS_pselect6, WaitKind::events, "pselect"},
    {SYS_epoll_pwait, WaitKind::events, "epoll_pwait"},
    {SYS_io_getevents, WaitKind::file, "io_getevents"},
    {SYS_io_uring_enter, WaitKind::file, "io_uring_enter"},
    {SYS_fsync, WaitKind::file_sync, "fsync"},
    {SYS_fdatasync, WaitKind::file_sync, "fdatasync"},
    {SYS_sync, WaitKind::file_sync, "sync"},
    {SYS_syncfs, WaitKind::file_sync, "syncfs"},
    {SYS_sync_file_range, WaitKind::file_sync, "sync_file_range"},
    {SYS_msync, WaitKind::file_sync, "msync"},
    {SYS_openat, WaitKind::file, "openat"},
    {SYS_newfstatat, WaitKind::file, "fstatat"},
    {SYS_statx, WaitKind::file, "statx"},
    {SYS_unlinkat, WaitKind::file, "unlinkat"},
    {SYS_renameat2, WaitKind::file, "renameat"},
    {SYS_mkdirat, WaitKind::file, "mkdirat"},
    {SYS_close, WaitKind::file, "close"},
    {SYS_getdents64, WaitKind::file, "getdents"},
    {SYS_ftruncate, WaitKind::file, "ftruncate"},
    {SYS_fallocate, WaitKind::file, "fallocate"},
    {SYS_flock, WaitKind::lock, "flock"},
    {SYS_fcntl, WaitKind::lock, "fcntl (a file lock)"},
    {SYS_accept, WaitKind::network, "accept"},
    {SYS_accept4, WaitKind::network, "accept"},
    {SYS_connect, WaitKind::network, "connect"},
    {SYS_recvfrom, WaitKind::network, "recv"},
    {SYS_recvmsg, WaitKind::network, "recvmsg"},
    {SYS_recvmmsg, WaitKind::network, "recvmmsg"},
    {SYS_sendto, WaitKind::network, "send"},
    {SYS_sendmsg, WaitKind::network, "sendmsg"},
    {SYS_sendmmsg, WaitKind::network, "sendmmsg"},
    {SYS_rt_sigsuspend, WaitKind::signal, "sigsuspend"},
    {SYS_rt_sigtimedwait, WaitKind::signal, "sigwait"},
    {SYS_semop, WaitKind::condition, "semop"},
    {SYS_semtimedop, WaitKind::condition, "semtimedop"},
    {SYS_msgrcv, WaitKind::pipe, "msgrcv"},
    {SYS_msgsnd, WaitKind::pipe, "msgsnd"},
    {SYS_mq_timedreceive, WaitKind::pipe, "mq_receive"},
    {SYS_mq_timedsend, WaitKind::pipe, "mq_send"},
    {SYS_mmap, WaitKind::memory_map, "mmap"},
    {SYS_munmap, WaitKind::memory_map, "munmap"},
    {SYS_mprotect, WaitKind::memory_map, "mprotect"},
    {SYS_madvise, WaitKind::memory_map, "madvise"},
    {SYS_brk, WaitKind::memory_map, "brk"},
    {SYS_mremap, WaitKind::memory_map, "mremap"},
};

struct Transfer {
    int number;
    const char *name, *preposition;
};

constexpr Transfer kTransfers[] = {
    {SYS_read, "read", "from"},        {SYS_pread64, "pread", "from"},    {SYS_readv, "readv", "from"},
    {SYS_preadv, "preadv", "from"},    {SYS_preadv2, "preadv2", "from"},  {SYS_write, "write", "to"},
    {SYS_pwrite64, "pwrite", "to"},    {SYS_writev, "writev", "to"},      {SYS_pwritev, "pwritev", "to"},
    {SYS_pwritev2, "pwritev2", "to"},  {SYS_sendfile, "sendfile", "to"},  {SYS_ioctl, "ioctl", "of"},
};

// Functions of the C and C++ libraries that wait for something by a futex, by a part of their name; the outermost one on the
// stack says what for: pthread_cond_wait takes a mutex again at its end.
struct FutexUser {
    std::string_view part;
    WaitKind kind;
    RuntimeLock runtime = RuntimeLock::none;
};

constexpr FutexUser kFutexUsers[] = {
    {"pthread_join", WaitKind::thread_end},     {"pthread_timedjoin", WaitKind::thread_end},
    {"pthread_clockjoin", WaitKind::thread_end}, {"thrd_join", WaitKind::thread_end},
    {"pthread_barrier_wait", WaitKind::barrier}, {"pthread_cond_", WaitKind::condition},
    {"cnd_wait", WaitKind::condition},           {"sem_wait", WaitKind::condition},
    {"sem_timedwait", WaitKind::condition},      {"sem_clockwait", WaitKind::condition},
    {"new_sem_wait", WaitKind::condition},       {"pthread_mutex_", WaitKind::lock},
    {"pthread_rwlock_", WaitKind::lock},         {"mtx_lock", WaitKind::lock},
    {"lll_lock_wait", WaitKind::lock},
};

// The same of runtimes that are no libraries of the system: part of the program (Rust's), or with locks of their own above those of
// the C library (Java's monitors). Go's sync.Mutex and channels suspend goroutines, not threads: a thread that sleeps in its
// runtime waits for a goroutine that can run, or for a lock of the runtime itself.
constexpr FutexUser kRuntimeFutexUsers[] = {
    {"mutex::futex::Mutex", WaitKind::lock},         {"futex_mutex::Mutex", WaitKind::lock},
    {"rwlock::futex::RwLock", WaitKind::lock},       {"futex_rwlock::RwLock", WaitKind::lock},
    {"condvar::futex::Condvar", WaitKind::condition}, {"futex_condvar::Condvar", WaitKind::condition},
    {"::futex::Parker", WaitKind::condition},        {"runtime.futex", WaitKind::parked},
    {"ObjectMonitor::enter", WaitKind::lock, RuntimeLock::java},
    {"ObjectMonitor::EnterI", WaitKind::lock, RuntimeLock::java},
    {"ObjectMonitor::ReenterI", WaitKind::lock, RuntimeLock::java},
    {"ObjectMonitor::wait", WaitKind::condition},    {"JavaThread::sleep", WaitKind::sleep},
    // Compiled Java code, whose names are known where the Java machine wrote a map. Locks are acquired by the same function as
    // semaphores and latches. What else parks waits for work.
    {"AbstractQueuedSynchronizer.acquire(", WaitKind::lock, RuntimeLock::java},
    {".acquireShared", WaitKind::condition},         {".CountDownLatch.await", WaitKind::condition},
    {".Semaphore.acquire", WaitKind::condition},     {"$ConditionObject.await", WaitKind::condition},
};
constexpr std::string_view kJavaRuntime = "/libjvm.so";
constexpr std::string_view kJavaLibraries[] = {" java.util.concurrent.", " jdk.internal.", "Interpreter"};

// CPython's interpreter lock is a flag with a condition variable in this one; nothing else in it is waited for so.
constexpr std::string_view kPythonRuntime = "_PyRuntime";

struct StackFacts {
    bool mpi = false, openmp = false, python = false;
    const FutexUser* futex_user = nullptr;
};

bool is_java_library(std::span<const model::SourceFrame> frames) {
    return std::ranges::any_of(frames, [](const model::SourceFrame& frame) {
        return std::ranges::any_of(kJavaLibraries, [&](std::string_view package) {
            return frame.function.find(package) != std::string::npos;
        });
    });
}

// MPI loads libraries of devices that are in no list of names, and they wait as it does.
bool is_called_by_mpi(model::CallPaths& paths, size_t process, uint32_t node) {
    const std::vector<model::PathNode>& nodes = paths.run().processes[process].paths;
    for (size_t depth = 0; node != 0 && node < nodes.size() && depth < model::kMostCallers; ++depth, node = nodes[node].parent) {
        const model::Module* module = paths.module_of(process, nodes[node].address);
        if (module && model::is_mpi_module(module->path))
            return true;
        if (module && model::is_program_code(*module))
            return false;
    }
    return false;
}

StackFacts look_at_stack(model::CallPaths& paths, size_t process, uint32_t node) {
    StackFacts facts;
    const std::vector<model::PathNode>& nodes = paths.run().processes[process].paths;
    for (size_t depth = 0; node != 0 && node < nodes.size() && depth < model::kMostCallers; ++depth, node = nodes[node].parent) {
        const model::Module* module = paths.module_of(process, nodes[node].address);
        if (!module)
            continue;
        facts.mpi |= model::is_mpi_module(module->path);
        facts.openmp |= model::is_openmp_module(module->path);
        const bool is_system = model::is_system_module(module->path);
        const std::span<const FutexUser> users = is_system ? std::span<const FutexUser>(kFutexUsers) : kRuntimeFutexUsers;
        for (const model::SourceFrame& frame : paths.frames_of(process, node))
            for (const FutexUser& user : users)
                if (frame.function.find(user.part) != std::string::npos)
                    facts.futex_user = &user;
        // The waiting function is what the program's own code called.
        if (!is_system && !module->path.ends_with(kJavaRuntime) &&
            (module->path.starts_with('/') || !is_java_library(paths.frames_of(process, node)))) {
            facts.python = module->path.find("python") != std::string::npos;
            facts.mpi |= is_called_by_mpi(paths, process, node);
            break;
        }
    }
    return facts;
}

bool is_regular(const std::string& descriptor) { return descriptor.starts_with('/') && !descriptor.starts_with("/dev/"); }

WaitClass of_transfer(const Transfer& transfer, const std::string& descriptor) {
    const auto words = [&](const std::string& from) { return fmt::format("{} {} {}", transfer.name, transfer.preposition, from); };
    if (descriptor.starts_with("pipe:"))
        return {WaitKind::pipe, words("a pipe")};
    if (descriptor.starts_with("socket:"))
        return {WaitKind::network, words("a socket")};
    if (descriptor.starts_with("anon_inode:"))
        return {WaitKind::events, words(descriptor.substr(descriptor.find(':') + 1))};
    if (descriptor.starts_with("/dev/pts") || descriptor.starts_with("/dev/tty"))
        return {WaitKind::terminal, words("the terminal")};
    if (descriptor.empty())
        return {WaitKind::other, transfer.name};
    return {is_regular(descriptor) ? WaitKind::file : WaitKind::other, words(descriptor)};
}

bool is_part_of(model::CallPaths& paths, size_t process, uint64_t address, std::string_view variable) {
    model::DataAccess access;
    access.address = address;
    const auto named = paths.static_at(process, access);
    return named && named->name == variable;
}

WaitClass class_by_call(model::CallPaths& paths, size_t process, const model::BlockedSite& site) {
    const StackFacts stack = look_at_stack(paths, process, site.path);
    if (stack.mpi)
        return {WaitKind::mpi, "the MPI library"};
    if (site.system_call < 0)
        return {WaitKind::page_in, "a page read from disk"};
    if (site.system_call == SYS_futex) {
        if (stack.openmp)
            return {WaitKind::barrier, "the other threads of an OpenMP team"};
        if (stack.futex_user && stack.futex_user->kind == WaitKind::condition && stack.python)
            if (is_part_of(paths, process, site.object, kPythonRuntime))
                return {WaitKind::lock, "Python's interpreter lock", RuntimeLock::python};
        if (stack.futex_user)
            return {stack.futex_user->kind, words_of(stack.futex_user->kind), stack.futex_user->runtime};
        const auto& holders = paths.run().processes[process].lock_holders;
        const bool held = std::any_of(holders.begin(), holders.end(), [&](const model::LockHolder& holder) {
            return holder.thread == site.thread && holder.path == site.path && holder.object == site.object;
        });
        return held ? WaitClass{WaitKind::lock, "a lock"} : WaitClass{WaitKind::futex, "a futex of the program's own"};
    }
    for (const Transfer& transfer : kTransfers)
        if (transfer.number == site.system_call)
            return of_transfer(transfer, site.descriptor);
    for (const KindOfCall& call : kCalls)
        if (call.number == site.system_call)
            return {call.kind, site.descriptor.empty() ? std::string(call.name) : fmt::format("{} of {}", call.name, site.descriptor)};
    return {WaitKind::other, fmt::format("system call {}", site.system_call)};
}

} // namespace

// The shim changes its own files and mappings, and waits for its own locks, by system calls of its own. What it does for the program
// it leaves to the C library, whose code is then innermost.
WaitClass wait_class_of(model::CallPaths& paths, size_t process, const model::BlockedSite& site) {
    WaitClass what = class_by_call(paths, process, site);
    const bool may_be_own = what.kind == WaitKind::file || what.kind == WaitKind::memory_map || what.kind == WaitKind::sleep ||
                            what.kind == WaitKind::other;
    if (may_be_own && is_own_code(paths, process, site.path))
        return {WaitKind::plumb, "plumb's own work"};
    return what;
}

const char* to_string(WaitKind kind) {
    switch (kind) {
    case WaitKind::mpi: return "mpi";
    case WaitKind::lock: return "lock";
    case WaitKind::condition: return "condition";
    case WaitKind::barrier: return "barrier";
    case WaitKind::thread_end: return "join";
    case WaitKind::futex: return "futex";
    case WaitKind::parked: return "parked";
    case WaitKind::child: return "child";
    case WaitKind::file: return "file";
    case WaitKind::file_sync: return "file-sync";
    case WaitKind::pipe: return "pipe";
    case WaitKind::network: return "network";
    case WaitKind::terminal: return "terminal";
    case WaitKind::events: return "events";
    case WaitKind::sleep: return "sleep";
    case WaitKind::signal: return "signal";
    case WaitKind::page_in: return "page-in";
    case WaitKind::memory_map: return "memory-map";
    case WaitKind::plumb: return "plumb";
    case WaitKind::other: break;
    }
    return "other";
}

const char* words_of(WaitKind kind) {
    switch (kind) {
    case WaitKind::mpi: return "asleep in MPI";
    case WaitKind::lock: return "waiting for a lock";
    case WaitKind::condition: return "waiting for work (condition variable or semaphore)";
    case WaitKind::barrier: return "waiting at a barrier";
    case WaitKind::thread_end: return "waiting for a thread to end";
    case WaitKind::futex: return "waiting on a futex";
    case WaitKind::parked: return "parked by the Go runtime (no goroutine to run)";
    case WaitKind::child: return "waiting for another process";
    case WaitKind::file: return "reading or writing files";
    case WaitKind::file_sync: return "syncing files to disk";
    case WaitKind::pipe: return "waiting at a pipe";
    case WaitKind::network: return "waiting for the network";
    case WaitKind::terminal: return "waiting for the terminal";
    case WaitKind::events: return "waiting for events (poll, select, epoll)";
    case WaitKind::sleep: return "sleeping";
    case WaitKind::signal: return "waiting for a signal";
    case WaitKind::page_in: return "page faults that read from disk";
    case WaitKind::memory_map: return "changing memory mappings";
    case WaitKind::plumb: return "plumb itself";
    case WaitKind::other: break;
    }
    return "in other system calls";
}

} // namespace plumb
