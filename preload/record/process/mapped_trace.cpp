#include "record/process/mapped_trace.h"

#include "platform/os/files.h"
#include "platform/os/ids_and_clocks.h"
#include "platform/os/memory.h"
#include "platform/code/signals_blocked.h"
#include "platform/os/system_call.h"
#include "platform/os/text.h"
#include "record/process/settings.h"
#include "record/process/trace_writer.h"

#include <errno.h>
#include <plumb/machine.h>
#include <plumb/redaction.h>
#include <sys/mman.h>
#include <sys/utsname.h>

namespace plumb::shim {
namespace {

constexpr uint64_t kBlock = 64 * 1024; // sizes of file and limit are multiples: of every page size in use
constexpr uint32_t kImagesMax = 10'000; // of one process: execs in a row
// A temporary failure (descriptors exhausted) costs some microseconds: the next attempt follows after a time that doubles.
constexpr uint64_t kLeastPatienceNs = 1'000'000, kMostPatienceNs = 100'000'000;

uint64_t round_up(uint64_t bytes) { return (bytes + kBlock - 1) / kBlock * kBlock; }

bool is_temporary(int error) { return error == -EMFILE || error == -ENFILE || error == -EINTR || error == -ENOMEM; }

int create_unused(const char* directory, uint32_t pid, uint64_t start_ticks, char* path, size_t path_bytes) {
    for (uint32_t image = 0; image < kImagesMax; ++image) {
        Text<PATH_MAX> name;
        name << directory << "/process-" << pid << "-" << start_ticks;
        if (image > 0)
            name << "." << image;
        name << ".plumb";
        if (name.cut())
            return -ENAMETOOLONG;
        const int descriptor = open_file(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
        if (descriptor == -EEXIST)
            continue;
        if (descriptor >= 0)
            memcpy(path, name.c_str(), name.length() + 1 < path_bytes ? name.length() + 1 : path_bytes);
        return descriptor;
    }
    return -EEXIST;
}

uint64_t own_pid_namespace() {
    char text[64]; // "pid:[4026531836]"
    if (read_link("/proc/self/ns/pid", text, sizeof text) <= 0)
        return 0;
    uint64_t inode = 0;
    for (const char* c = text; *c; ++c)
        inode = *c >= '0' && *c <= '9' ? inode * 10 + static_cast<uint64_t>(*c - '0') : inode;
    return inode;
}

void name_host(trace::FileHeader& file) {
    char boot_id[64];
    const long read = read_whole_file("/proc/sys/kernel/random/boot_id", boot_id, sizeof boot_id);
    const size_t length = read > 0 ? static_cast<size_t>(read) : 0;
    file.machine = trace::machine_of(boot_id, length);
    file.pid_namespace = own_pid_namespace();
    if (settings.text(Setting::kRedact)) {
        char alias[redaction::kAliasBytes];
        redaction::alias_of_host(boot_id, length, alias);
        memcpy(file.host, alias, strlen(alias));
        return;
    }
    utsname system = {};
    system_call(SYS_uname, word(&system));
    memcpy(file.host, system.nodename, strnlen(system.nodename, sizeof file.host - 1));
}

class Counted {
  public:
    explicit Counted(std::atomic<uint32_t>& count) : count_(count) { count_.fetch_add(1, std::memory_order_seq_cst); }
    ~Counted() { count_.fetch_sub(1, std::memory_order_release); }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;

  private:
    std::atomic<uint32_t>& count_;
};

} // namespace

int MappedTrace::create(const char* directory, uint32_t pid, uint64_t start_ticks, uint64_t limit_bytes,
                      bool abandon_former) {
    if (abandon_former && base_)
        system_call(SYS_mmap, word(base_), static_cast<long>(limit_bytes_), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    base_ = nullptr;
    limit_bytes_ = round_up(limit_bytes < kFirstBytes ? kFirstBytes : limit_bytes);
    mapped_bytes_ = reserved_bytes_ = 0;
    usable_bytes_.store(0, std::memory_order_relaxed);
    allotting_.store(0, std::memory_order_relaxed); // of the parent's threads, in a forked child
    closed_.store(false, std::memory_order_relaxed);
    growing_.forget_holder();
    cannot_grow_.store(false, std::memory_order_relaxed);
    grow_again_ns_.store(0, std::memory_order_relaxed);
    patience_ns_.store(0, std::memory_order_relaxed);

    const int descriptor = create_unused(directory, pid, start_ticks, path_, sizeof path_);
    if (descriptor < 0)
        return descriptor;
    struct stat status = {};
    int error = status_of_file(descriptor, &status);
    device_ = status.st_dev;
    inode_ = status.st_ino;
    if (error == 0 && !(base_ = static_cast<char*>(reserve_address_space(limit_bytes_))))
        error = -ENOMEM;
    if (error == 0)
        error = grow_to(kFirstBytes, descriptor);
    close_file(descriptor);
    if (error < 0) {
        if (base_)
            release_pages(base_, limit_bytes_);
        base_ = nullptr;
        remove_file(path_);
        return error;
    }

    trace::FileHeader* file = header();
    file->major = trace::kMajor;
    file->minor = trace::kMinor;
    file->header_size = sizeof(trace::FileHeader);
    file->writer = static_cast<uint32_t>(trace::Writer::process);
    file->pid = pid;
    file->pid_start_ticks = start_ticks;
    file->opened_ns = now_ns();
    file->opened_unix_ns = wall_clock_ns();
    name_host(*file);
    std::atomic_thread_fence(std::memory_order_release);
    memcpy(file->magic, trace::kMagic, sizeof file->magic); // last: from here on it is a trace file
    return 0;
}

// Programs change their root and remove folders: another file at the path is not ours to write.
int MappedTrace::open_again() const {
    const int descriptor = open_file(path_, O_RDWR | O_NOFOLLOW);
    if (descriptor < 0)
        return descriptor;
    struct stat status = {};
    int error = status_of_file(descriptor, &status);
    if (error == 0 && (status.st_dev != device_ || status.st_ino != inode_))
        error = -ESTALE;
    if (error == 0)
        return descriptor;
    close_file(descriptor);
    return error;
}

int MappedTrace::grow_to(uint64_t bytes, int descriptor) {
    if (bytes > reserved_bytes_) {
        if (const int error = reserve_blocks(descriptor, reserved_bytes_, bytes - reserved_bytes_); error < 0)
            return error;
        reserved_bytes_ = bytes;
    }
    if (bytes > mapped_bytes_) {
        const long rest = static_cast<long>(bytes - mapped_bytes_);
        const long address = system_call(SYS_mmap, word(base_ + mapped_bytes_), rest, PROT_READ | PROT_WRITE,
                                         MAP_SHARED | MAP_FIXED, descriptor, static_cast<long>(mapped_bytes_));
        if (is_error(address)) {
            // Whatever MAP_FIXED has left there must not be handed out to the program by a later mmap.
            system_call(SYS_mmap, word(base_ + mapped_bytes_), rest, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
            return static_cast<int>(address);
        }
        mapped_bytes_ = bytes;
    }
    usable_bytes_.store(bytes, std::memory_order_release);
    return 0;
}

bool MappedTrace::ensure_mapped(uint64_t bytes) {
    if (bytes <= usable_bytes_.load(std::memory_order_acquire))
        return true;
    if (bytes > limit_bytes_ || cannot_grow_.load(std::memory_order_relaxed))
        return false;
    const uint64_t begin = now_ns();
    if (begin < grow_again_ns_.load(std::memory_order_relaxed))
        return false;
    const SignalsBlocked blocked;
    growing_.take(); // another thread grows it: tens of microseconds
    bool enough = bytes <= usable_bytes_.load(std::memory_order_relaxed);
    if (!enough) {
        uint64_t target = mapped_bytes_ * 2;
        while (target < bytes)
            target *= 2;
        if (target > limit_bytes_)
            target = limit_bytes_;
        const int descriptor = open_again();
        int error = descriptor;
        if (descriptor >= 0) {
            error = grow_to(target, descriptor);
            close_file(descriptor);
        }
        enough = error == 0;
        if (enough)
            patience_ns_.store(0, std::memory_order_relaxed);
        else if (is_temporary(error))
            try_again_later();
        else
            cannot_grow_.store(true, std::memory_order_relaxed);
        add_own_cost(now_ns() - begin);
    }
    growing_.release();
    return enough;
}

// Under the growth lock.
void MappedTrace::try_again_later() {
    uint64_t patience = patience_ns_.load(std::memory_order_relaxed) * 2;
    patience = patience < kLeastPatienceNs ? kLeastPatienceNs : patience > kMostPatienceNs ? kMostPatienceNs : patience;
    patience_ns_.store(patience, std::memory_order_relaxed);
    grow_again_ns_.store(now_ns() + patience, std::memory_order_relaxed);
}

trace::ChunkHeader* MappedTrace::allot(uint32_t least, uint32_t wanted, uint32_t tid) {
    if (!base_)
        return nullptr;
    // A handler that never comes back must not leave a chunk behind that says neither what it is nor where the next one
    // begins. (The first store into a fresh page is a fault, behind which signals are delivered.)
    const SignalsBlocked blocked;
    // Either cut() sees that this thread is here, or this thread sees that the file is closed.
    const Counted here(allotting_);
    if (closed_.load(std::memory_order_seq_cst))
        return nullptr;
    std::atomic_ref<uint64_t> next(header()->next_chunk);
    uint64_t begin = next.load(std::memory_order_relaxed);
    for (;;) {
        const uint64_t offset = sizeof(trace::FileHeader) + begin;
        uint64_t room = limit_bytes_ - offset;
        if (room >= least && !ensure_mapped(offset + (wanted < room ? wanted : room)))
            room = usable_bytes_.load(std::memory_order_acquire) > offset
                       ? usable_bytes_.load(std::memory_order_acquire) - offset
                       : 0;
        if (room < least) {
            // Not where there will be room again: readers take a full file for one that reached its limit.
            if (limit_bytes_ - offset < least || cannot_grow_.load(std::memory_order_relaxed))
                std::atomic_ref<uint32_t>(header()->flags).fetch_or(trace::kFull, std::memory_order_relaxed);
            return nullptr;
        }
        const uint32_t bytes = wanted < room ? wanted : static_cast<uint32_t>(room) & ~7u;
        if (!next.compare_exchange_weak(begin, begin + bytes, std::memory_order_relaxed))
            continue;
        auto* chunk = reinterpret_cast<trace::ChunkHeader*>(base_ + offset);
        chunk->size = bytes;
        chunk->tid = tid;
        std::atomic_ref<uint32_t>(chunk->magic).store(trace::kChunkMagic, std::memory_order_release);
        return chunk;
    }
}

void MappedTrace::count_dropped(uint64_t records) {
    if (base_)
        std::atomic_ref<uint64_t>(header()->dropped_records).fetch_add(records, std::memory_order_relaxed);
}

void MappedTrace::add_own_cost(uint64_t ns) {
    if (base_)
        std::atomic_ref<uint64_t>(header()->own_cost_ns).fetch_add(ns, std::memory_order_relaxed);
}

uint64_t MappedTrace::own_cost_ns() const {
    return base_ ? std::atomic_ref<uint64_t>(header()->own_cost_ns).load(std::memory_order_relaxed) : 0;
}

// What lies behind the last chunk leaves this process's own mapping first, and then the file. Where another thread is
// about to take a chunk, or anything fails, the file stays as long as it is.
void MappedTrace::cut() {
    const SignalsBlocked blocked;
    growing_.take();
    const uint64_t used = sizeof(trace::FileHeader) +
                          std::atomic_ref<uint64_t>(header()->next_chunk).load(std::memory_order_relaxed);
    const uint64_t kept = round_up(used);
    if (allotting_.load(std::memory_order_seq_cst) == 0 && used < reserved_bytes_) {
        if (const int descriptor = open_again(); descriptor >= 0) {
            const bool unmapped =
                kept >= mapped_bytes_ ||
                !is_error(system_call(SYS_mmap, word(base_ + kept), static_cast<long>(mapped_bytes_ - kept), PROT_NONE,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0));
            if (unmapped) {
                usable_bytes_.store(used, std::memory_order_relaxed);
                mapped_bytes_ = kept < mapped_bytes_ ? kept : mapped_bytes_;
                reserved_bytes_ = used; // even if cutting fails: blocks that exist are reserved again at no cost
                system_call(SYS_ftruncate, descriptor, static_cast<long>(used));
            }
            close_file(descriptor);
        }
    }
    growing_.release();
}

void MappedTrace::mark_closed(uint64_t now_ns) {
    if (!base_)
        return;
    closed_.store(true, std::memory_order_seq_cst);
    cut();
    std::atomic_ref<uint64_t>(header()->closed_ns).store(now_ns, std::memory_order_relaxed);
    std::atomic_ref<uint32_t>(header()->flags).fetch_or(trace::kClosed, std::memory_order_release);
}

void MappedTrace::stop_growing() { cannot_grow_.store(true, std::memory_order_relaxed); }

void MappedTrace::mark_open() {
    if (!base_)
        return;
    std::atomic_ref<uint32_t>(header()->flags).fetch_and(~uint32_t{trace::kClosed}, std::memory_order_relaxed);
    std::atomic_ref<uint64_t>(header()->closed_ns).store(0, std::memory_order_relaxed);
    closed_.store(false, std::memory_order_seq_cst);
}

} // namespace plumb::shim
