// Large tables of the shim that most programs never need: made from zeroed pages by the first thread that asks.
#pragma once

#include "platform/os/memory.h"

namespace plumb::shim {

// The table behind `*slot`, made if there is none yet; of two threads that make it at once, one gives its own back.
// Wiped in forked children. Null: no memory. T must be valid when all zero. Signal-safe; errno is untouched.
template <class T> T* open_pages(T** slot, bool small_pages) {
    T* current = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    if (current)
        return current;
    T* const made = static_cast<T*>(allocate_pages(sizeof(T), true));
    if (!made)
        return nullptr;
    if (small_pages)
        keep_small_pages(made, sizeof(T));
    if (__atomic_compare_exchange_n(slot, &current, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return made;
    release_pages(made, sizeof(T));
    return current;
}

} // namespace plumb::shim
