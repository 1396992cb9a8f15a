#include "platform/os/memory.h"

#include "platform/os/system_call.h"

#include <sys/mman.h>

namespace plumb::shim {
namespace {

void* map(size_t bytes, int protection, int flags) {
    const long address = system_call(SYS_mmap, 0, static_cast<long>(bytes), protection,
                                     flags | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return is_error(address) ? nullptr : reinterpret_cast<void*>(address);
}

} // namespace

void* allocate_pages(size_t bytes, bool wiped_on_fork) {
    void* pages = map(bytes, PROT_READ | PROT_WRITE, 0);
    if (pages && wiped_on_fork)
        system_call(SYS_madvise, word(pages), static_cast<long>(bytes), MADV_WIPEONFORK);
    return pages;
}

void release_pages(void* pages, size_t bytes) { system_call(SYS_munmap, word(pages), static_cast<long>(bytes)); }

void keep_small_pages(void* pages, size_t bytes) {
    system_call(SYS_madvise, word(pages), static_cast<long>(bytes), MADV_NOHUGEPAGE);
}

void* reserve_address_space(size_t bytes) { return map(bytes, PROT_NONE, MAP_NORESERVE); }

} // namespace plumb::shim
