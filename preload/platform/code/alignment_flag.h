// EFLAGS.AC of the calling thread: while it is set, scalar accesses that are not naturally aligned raise SIGBUS
// (BUS_ADRALN). The kernel gives system calls a clear flag and restores it; new threads and signal handlers inherit it.
// Signal-safe. On architectures without such a flag all of this does nothing, and has_alignment_flag is false.
#pragma once

#include <stdint.h>

namespace plumb::shim {

inline constexpr uint64_t kAlignmentFlag = 1u << 18;

#if defined(__x86_64__)
inline constexpr bool has_alignment_flag = true;

// The red zone is stepped over: the compiler may keep data there.
inline bool alignment_flag() {
    uint64_t flags;
    __asm__ volatile("leaq -128(%%rsp), %%rsp\n\tpushfq\n\tpopq %0\n\tleaq 128(%%rsp), %%rsp" : "=r"(flags) : : "memory");
    return (flags & kAlignmentFlag) != 0;
}
inline void set_alignment_flag() {
    __asm__ volatile("leaq -128(%%rsp), %%rsp\n\tpushfq\n\torl $0x40000, (%%rsp)\n\tpopfq\n\tleaq 128(%%rsp), %%rsp"
                     : : : "memory", "cc");
}
inline void clear_alignment_flag() {
    __asm__ volatile("leaq -128(%%rsp), %%rsp\n\tpushfq\n\tandl $0xfffbffff, (%%rsp)\n\tpopfq\n\tleaq 128(%%rsp), %%rsp"
                     : : : "memory", "cc");
}
#else
inline constexpr bool has_alignment_flag = false;
inline bool alignment_flag() { return false; }
inline void set_alignment_flag() {}
inline void clear_alignment_flag() {}
#endif

// Where the calling thread is inside code that must run with a clear flag, however deep: nobody sets the flag from
// outside (in a signal handler) then. initial-exec: read in signal handlers.
inline thread_local uint32_t alignment_trap_kept_off __attribute__((tls_model("initial-exec"))) = 0;

class AlignmentTrapKeptOff {
  public:
    AlignmentTrapKeptOff() { alignment_trap_kept_off = alignment_trap_kept_off + 1; }
    ~AlignmentTrapKeptOff() { alignment_trap_kept_off = alignment_trap_kept_off - 1; }
    AlignmentTrapKeptOff(const AlignmentTrapKeptOff&) = delete;
    AlignmentTrapKeptOff& operator=(const AlignmentTrapKeptOff&) = delete;
};

// Whether the calling thread is one whose flag the tool sets at all. initial-exec: as above.
inline thread_local bool alignment_trap_armed __attribute__((tls_model("initial-exec"))) = false;

// The flag has been taken from the program for the tool's own doing, in the middle of which the calling thread is: a
// handler of the program that interrupts this runs with the flag nevertheless.
inline thread_local bool alignment_flag_taken __attribute__((tls_model("initial-exec"))) = false;

// Clear while the tool records: its own unaligned accesses (compilers copy structures of 12 bytes by words that overlap)
// would trap like the program's. Costs a thread that is not armed one load. Not to be nested; where the scope is left by
// a jump out of a handler, the handler had the flag already.
class AlignmentFlagTaken {
  public:
    void take() {
        if (__builtin_expect(alignment_trap_armed, 0) && alignment_flag()) {
            clear_alignment_flag();
            alignment_flag_taken = taken_ = true;
        }
    }
    // Not if the trap has ended for this thread meanwhile.
    void give_back() {
        if (__builtin_expect(!taken_, 1))
            return;
        alignment_flag_taken = false;
        if (alignment_trap_armed)
            set_alignment_flag();
    }

  private:
    bool taken_ = false;
};

// The same for a scope. Inside another one it does nothing.
class AlignmentFlagTakenHere {
  public:
    AlignmentFlagTakenHere() { flag_.take(); }
    ~AlignmentFlagTakenHere() { flag_.give_back(); }
    AlignmentFlagTakenHere(const AlignmentFlagTakenHere&) = delete;
    AlignmentFlagTakenHere& operator=(const AlignmentFlagTakenHere&) = delete;

  private:
    AlignmentFlagTaken flag_;
};

// Clear for a scope: around calls into the C library that start threads or processes, or block all signals.
class AlignmentTrapOff {
  public:
    AlignmentTrapOff() : was_set_(alignment_flag()) {
        if (was_set_)
            clear_alignment_flag();
    }
    ~AlignmentTrapOff() {
        if (was_set_)
            set_alignment_flag();
    }
    AlignmentTrapOff(const AlignmentTrapOff&) = delete;
    AlignmentTrapOff& operator=(const AlignmentTrapOff&) = delete;

  private:
    const AlignmentTrapKeptOff kept_off_;
    bool was_set_;
};

} // namespace plumb::shim
