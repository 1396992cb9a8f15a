// Memory that the program takes from the kernel itself, in pieces of 1 MiB and more. The allocator's own mappings do
// not come here when it is glibc's (it calls itself directly); other allocators' do.
#include "hooks/alloc_call.h"
#include "platform/os/system_call.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/mman.h>

using namespace plumb::shim;

namespace {

using plumb::trace::LargeMapKind;

// Before the real functions are known: the kernel, as the C library would.
void* as_pointer(long result) {
    if (!is_error(result))
        return reinterpret_cast<void*>(result);
    errno = static_cast<int>(-result);
    return MAP_FAILED;
}

template <class Call> void* map(size_t bytes, OwnFrame hook_frame, Call call) {
    void* const address = call();
    if (PLUMB_UNLIKELY(bytes >= kLargeBytes) && address != MAP_FAILED && heap_mode != HeapMode::off)
        record_large_map(address, bytes, LargeMapKind::mmap, caller_of(hook_frame));
    return address;
}

// What goes is forgotten before: another thread may be given the same place before the call returns.
template <class Call, class Succeeded> auto unmap(void* address, size_t bytes, Call call, Succeeded succeeded) {
    if (heap_mode == HeapMode::off || bytes == 0)
        return call();
    const PendingUnmap pending = begin_unmap(address, bytes); // also a small part of a large one
    const auto result = call();
    end_unmap(pending, succeeded(result));
    return result;
}

} // namespace

extern "C" {

void* hook_mmap(void* where, size_t bytes, int protection, int flags, int descriptor, off_t offset) {
    return stay(map(bytes, PLUMB_OWN_FRAME(), [=] {
        if (const RealFunctions* real = real_functions())
            return real->mmap(where, bytes, protection, flags, descriptor, offset);
        return as_pointer(system_call(SYS_mmap, word(where), static_cast<long>(bytes), protection, flags, descriptor,
                                      offset));
    }));
}

void* hook_mmap64(void* where, size_t bytes, int protection, int flags, int descriptor, off64_t offset) {
    return stay(map(bytes, PLUMB_OWN_FRAME(), [=] {
        if (const RealFunctions* real = real_functions())
            return real->mmap64(where, bytes, protection, flags, descriptor, offset);
        return as_pointer(system_call(SYS_mmap, word(where), static_cast<long>(bytes), protection, flags, descriptor,
                                      offset));
    }));
}

int hook_munmap(void* address, size_t bytes) {
    return unmap(address, bytes, [=] {
        if (const RealFunctions* real = real_functions())
            return real->munmap(address, bytes);
        return as_pointer(system_call(SYS_munmap, word(address), static_cast<long>(bytes))) == MAP_FAILED ? -1 : 0;
    }, [](int result) { return result == 0; });
}

void* hook_mremap(void* former, size_t former_bytes, size_t bytes, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    void* const wanted = flags & MREMAP_FIXED ? va_arg(rest, void*) : nullptr;
    va_end(rest);
    // Of 0 bytes: a second view of shared memory, the first one stays.
    void* const address = unmap(former, former_bytes, [=] {
        if (const RealFunctions* real = real_functions())
            return real->mremap(former, former_bytes, bytes, flags, wanted);
        return as_pointer(system_call(SYS_mremap, word(former), static_cast<long>(former_bytes), static_cast<long>(bytes),
                                      flags, word(wanted)));
    }, [](void* result) { return result != MAP_FAILED; });
    if (PLUMB_UNLIKELY(bytes >= kLargeBytes) && address != MAP_FAILED && heap_mode != HeapMode::off)
        record_large_map(address, bytes, LargeMapKind::mremap, caller_of(PLUMB_OWN_FRAME()));
    return address;
}

void* hook_sbrk(intptr_t increment) {
    const RealFunctions* real = real_functions();
    if (PLUMB_UNLIKELY(!real)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    void* const former = real->sbrk(increment);
    if (increment >= static_cast<intptr_t>(kLargeBytes) && former != MAP_FAILED && heap_mode != HeapMode::off)
        record_large_map(former, static_cast<uint64_t>(increment), LargeMapKind::program_break, caller_of(PLUMB_OWN_FRAME()));
    return former;
}
}
