// When the whole heap is largest.
//
// Threads add what they allocate and free in batches. When the sum exceeds the last maximum by 1/128 a new epoch
// begins; every site notes its live bytes at its first change in a new epoch (trace_format.h, HeapSite), so that
// nobody walks over all sites at the peak. Lock-free, signal-safe.
#pragma once

#include <stdint.h>

namespace plumb::shim {

class HeapPeak {
  public:
    uint64_t epoch() const { return __atomic_load_n(&epoch_, __ATOMIC_RELAXED); }

    // How many bytes a thread may keep to itself: 1/256 of the peak, between 2 KiB and 1 MiB.
    int64_t batch_bytes() const { return __atomic_load_n(&batch_, __ATOMIC_RELAXED); }

    void add(int64_t bytes) {
        const int64_t live = __atomic_add_fetch(&live_, bytes, __ATOMIC_RELAXED);
        int64_t peak = __atomic_load_n(&peak_, __ATOMIC_RELAXED);
        while (live > peak + (peak >> 7))
            if (__atomic_compare_exchange_n(&peak_, &peak, live, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
                __atomic_add_fetch(&epoch_, 1, __ATOMIC_RELAXED);
                const int64_t batch = live >> 8;
                __atomic_store_n(&batch_, batch < kLeast ? kLeast : batch > kMost ? kMost : batch, __ATOMIC_RELAXED);
                break;
            }
    }

    int64_t live() const { return __atomic_load_n(&live_, __ATOMIC_RELAXED); }
    int64_t peak() const { return __atomic_load_n(&peak_, __ATOMIC_RELAXED); }

    // A forked child begins anew. Single-threaded.
    void reset() {
        live_ = peak_ = 0;
        epoch_ = 1;
        batch_ = kLeast;
    }

  private:
    static constexpr int64_t kLeast = 2048, kMost = 1 << 20;
    alignas(64) uint64_t epoch_ = 1; // read by every event, written rarely
    int64_t batch_ = kLeast;
    alignas(64) int64_t live_ = 0; // written by every batch
    int64_t peak_ = 0;
};

} // namespace plumb::shim
