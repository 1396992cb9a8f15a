#include "platform/code/code_memory.h"

#include "platform/os/system_call.h"

#include <sys/mman.h>

namespace plumb::shim {
namespace {

constexpr uint64_t kStride = 2 * 1024 * 1024;
constexpr uint32_t kAttempts = 512;
constexpr uint64_t kLowestOfKernel = 64 * 1024; // the kernel's usual lowest address

} // namespace

// Below, because the heap of a program grows upwards behind its image.
uint8_t* allocate_code(uint64_t near, size_t bytes) {
    for (uint32_t i = 1; i <= kAttempts; ++i) {
        const uint64_t distance = i * kStride;
        uint64_t where = (near & ~(kStride - 1)) - distance;
        if (distance >= (near & ~(kStride - 1)))
            where = kLowestOfKernel; // images at 4 MiB have nothing but this below them
        const long address = system_call(SYS_mmap, static_cast<long>(where), static_cast<long>(bytes),
                                         PROT_READ | PROT_WRITE | PROT_EXEC,
                                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (address == static_cast<long>(where))
            return reinterpret_cast<uint8_t*>(address);
        if (!is_error(address)) // a kernel that does not know MAP_FIXED_NOREPLACE
            system_call(SYS_munmap, address, static_cast<long>(bytes));
        else if (address == -13 || address == -1) // EACCES, EPERM: not refused because of the place
            return nullptr;
        if (where == kLowestOfKernel)
            return nullptr;
    }
    return nullptr;
}

} // namespace plumb::shim
