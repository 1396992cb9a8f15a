// One thread makes blocks, the other one sums them up. Planted: there is one block, and both yield in a loop until the other one
// is done with it, so that only one of them works at any time. Cured: there are many blocks, and one is filled while the other
// thread reads those before.
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#ifdef CURED
enum { kSlots = 64 };
#else
enum { kSlots = 1 };
#endif
enum { kBlocks = 300, kNumbers = 4096, kSteps = 400 };

struct slot {
    _Alignas(64) atomic_int is_full;
    double numbers[kNumbers];
};
static struct slot g_slots[kSlots];

__attribute__((noinline)) static void work_on(double* numbers) {
    for (int step = 0; step < kSteps; step++)
        for (int at = 0; at < kNumbers; at++)
            numbers[at] = sqrt(numbers[at] + step);
}

static void* fill_all(void* unused) {
    for (int block = 0; block < kBlocks; block++) {
        struct slot* slot = &g_slots[block % kSlots];
        while (atomic_load_explicit(&slot->is_full, memory_order_acquire)) // planted: spin-wait
            sched_yield();                                                // planted: spin-wait
        for (int at = 0; at < kNumbers; at++)
            slot->numbers[at] = block + at;
        work_on(slot->numbers);
        atomic_store_explicit(&slot->is_full, 1, memory_order_release);
    }
    return unused;
}

int main(void) {
    pthread_t filler;
    pthread_create(&filler, NULL, fill_all, NULL);
    double sum = 0;
    for (int block = 0; block < kBlocks; block++) {
        struct slot* slot = &g_slots[block % kSlots];
        while (!atomic_load_explicit(&slot->is_full, memory_order_acquire)) // planted: spin-wait
            sched_yield();                                                 // planted: spin-wait
        work_on(slot->numbers);
        sum += slot->numbers[block % kNumbers];
        atomic_store_explicit(&slot->is_full, 0, memory_order_release);
    }
    pthread_join(filler, NULL);
    printf("%.0f\n", sum);
    return 0;
}
