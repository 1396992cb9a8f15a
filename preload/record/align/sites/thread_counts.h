// The calling thread's counters: trace::AlignCount records of the trace file, found by the site's id.
//
// `this_thread_counts` points to an array of kSitesMax pointers to this thread's records; null in threads that are not
// watched. An entry is null until the thread's first trapped hit of the site. Only the thread itself writes its
// records, with plain stores of whole words: one that is interrupted by a handler which counts at another site loses
// nothing. Rewritten sites reach them in two loads: %fs:counts_tls_offset(), then 8 * id.
#pragma once

#include "platform/os/hidden.h"

#include <plumb/trace_format.h>
#include <stdint.h>

namespace plumb::shim {

extern __thread trace::AlignCount** this_thread_counts __attribute__((tls_model("initial-exec"))) PLUMB_HIDDEN;

// Distance of `this_thread_counts` from the thread pointer (%fs:0), the same in every thread; negative on x86-64.
inline int64_t counts_tls_offset() {
    int64_t thread_pointer = 0;
#if defined(__x86_64__)
    __asm__("movq %%fs:0, %0" : "=r"(thread_pointer));
#endif
    return reinterpret_cast<int64_t>(&this_thread_counts) - thread_pointer;
}

inline void add_to_count(uint64_t& field, uint64_t amount) {
    __atomic_store_n(&field, field + amount, __ATOMIC_RELAXED);
}

// One access of `width` bytes at `address`.
inline void count_access(trace::AlignCount& count, uint64_t address, uint32_t width) {
    add_to_count(count.hits, 1);
    add_to_count(count.residues[address % 64], 1);
    if (address % 4096 + width > 4096)
        add_to_count(count.page_crossings, 1);
    if (address < count.lowest_address)
        __atomic_store_n(&count.lowest_address, address, __ATOMIC_RELAXED);
    if (address > count.highest_address)
        __atomic_store_n(&count.highest_address, address, __ATOMIC_RELAXED);
}

} // namespace plumb::shim
