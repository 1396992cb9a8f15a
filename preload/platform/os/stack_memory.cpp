#include "platform/os/stack_memory.h"

#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

// Where the loader found the program's arguments: above every frame of the first thread.
extern "C" __attribute__((weak)) void* __libc_stack_end;

namespace plumb::shim {
namespace {

// For the first thread pthread_getattr_np would parse /proc/self/maps; this needs no file.
StackBounds first_thread_bounds() {
    StackBounds bounds;
    bounds.high = reinterpret_cast<uint64_t>(__libc_stack_end) & ~uint64_t{7};
    rlimit limit{};
    constexpr uint64_t kUnlimited = uint64_t{16} << 30; // anything below which nothing but the stack is mapped
    uint64_t bytes = getrlimit(RLIMIT_STACK, &limit) == 0 ? limit.rlim_cur : kUnlimited;
    if (bytes > kUnlimited)
        bytes = kUnlimited;
    bounds.low = bounds.high > bytes ? bounds.high - bytes : 0;
    return bounds;
}

// Of the calling thread. A forked child runs on the same stack: it must not ask again, because that may allocate, and another
// thread of its parent may have held the allocator's lock (_Fork leaves it locked).
__thread StackBounds known_bounds __attribute__((tls_model("initial-exec")));

StackBounds ask_for_bounds(uint64_t here) {
    if (&__libc_stack_end && getpid() == static_cast<pid_t>(syscall(SYS_gettid))) {
        const StackBounds bounds = first_thread_bounds();
        // In a child forked by another thread the first thread runs on that thread's stack.
        if (bounds.contains(here))
            return bounds;
    }
    pthread_attr_t attributes;
    StackBounds bounds;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return bounds;
    void* start = nullptr;
    size_t bytes = 0;
    if (pthread_attr_getstack(&attributes, &start, &bytes) == 0) {
        bounds.low = reinterpret_cast<uint64_t>(start);
        bounds.high = bounds.low + bytes;
    }
    pthread_attr_destroy(&attributes);
    return bounds;
}

} // namespace

StackBounds find_stack_bounds() {
    const uint64_t here = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
    if (!known_bounds.contains(here))
        known_bounds = ask_for_bounds(here);
    return known_bounds;
}

StackBounds known_stack_bounds() { return known_bounds; }

bool StackReader::load_foreign(uint64_t address, uint64_t* value) {
    if (address < 4096 || address > UINT64_MAX - kWindowBytes)
        return false;
    if (address < window_start_ || address + 8 > window_start_ + window_bytes_) {
        // Not across a page: the next one may be unmapped, and the copy would fail as a whole.
        const uint64_t page_end = (address | 4095) + 1;
        const uint64_t bytes = page_end - address < kWindowBytes ? page_end - address : kWindowBytes;
        const iovec local{window_, bytes};
        const iovec remote{reinterpret_cast<void*>(address), bytes};
        const int saved_errno = errno;
        const long copied = syscall(SYS_process_vm_readv, getpid(), &local, 1ul, &remote, 1ul, 0ul);
        errno = saved_errno;
        window_start_ = address;
        window_bytes_ = copied > 0 ? static_cast<uint64_t>(copied) : 0;
        if (window_bytes_ < 8)
            return false;
    }
    *value = window_[(address - window_start_) / 8];
    return true;
}

} // namespace plumb::shim
