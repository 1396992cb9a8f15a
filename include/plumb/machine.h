// Which machine wrote a trace file, known by what the kernel draws at random at each start. The shim and the recorder call it.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace plumb::trace {

// Containers on one machine have it in common, machines of one name have not. `boot_id`: what stands in
// /proc/sys/kernel/random/boot_id, hexadecimal digits and dashes. 0: there are none.
constexpr uint64_t machine_of(const char* boot_id, size_t length) {
    uint64_t hash = 14695981039346656037u;
    size_t digits = 0;
    for (size_t i = 0; i < length; ++i)
        if ((boot_id[i] >= '0' && boot_id[i] <= '9') || (boot_id[i] >= 'a' && boot_id[i] <= 'f')) {
            hash = (hash ^ static_cast<unsigned char>(boot_id[i])) * 1099511628211u;
            ++digits;
        }
    return digits > 0 ? hash : 0;
}

} // namespace plumb::trace
