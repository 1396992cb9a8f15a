// Reads stack memory without ever faulting.
#pragma once

#include <stdint.h>

namespace plumb::shim {

// The calling thread's own stack, as the C library made it. 0, 0 where it is not known.
struct StackBounds {
    uint64_t low = 0;
    uint64_t high = 0;
    bool contains(uint64_t address) const { return address >= low && address < high; }
};

// Thread-safe. Not signal-safe: asks the C library, which may allocate (enter the guard first).
StackBounds find_stack_bounds();

// What find_stack_bounds() found for the calling thread; 0, 0: it was not asked. Signal-safe.
StackBounds known_stack_bounds();

// Loads words of a stack. On the thread's own stack, between the stack pointer and the stack's end, memory is there
// and is read directly. On any other (coroutines, alternative signal stacks) a window is copied by the kernel.
class StackReader {
  public:
    StackReader(StackBounds own, uint64_t stack_pointer)
        : low_(own.contains(stack_pointer) ? stack_pointer : UINT64_MAX), high_(own.high), own_(own) {}

    bool on_own_stack() const { return low_ != UINT64_MAX; }

    bool load(uint64_t address, uint64_t* value) {
        if (address & 7)
            return false;
        if (address >= low_ && address < high_ && high_ - address >= 8) { // no sum: a caller's -8 goes around
            *value = *reinterpret_cast<const uint64_t*>(address);
            return true;
        }
        return load_foreign(address, value);
    }

    // A signal interrupted code on another stack: from here on that one is the live one.
    void switch_stack(uint64_t stack_pointer) { low_ = own_.contains(stack_pointer) ? stack_pointer : UINT64_MAX; }

  private:
    bool load_foreign(uint64_t address, uint64_t* value);

    static constexpr uint32_t kWindowBytes = 512; // small: alternative stacks are
    uint64_t low_, high_;
    StackBounds own_;
    uint64_t window_start_ = 0;
    uint64_t window_bytes_ = 0;
    uint64_t window_[kWindowBytes / 8];
};

} // namespace plumb::shim
