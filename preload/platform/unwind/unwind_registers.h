// What unwinding must know of the architecture: the registers that call-frame information names, where a call leaves its return
// address, and where the kernel's signal frame keeps the interrupted registers.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace plumb::shim {

#if defined(__x86_64__)

// System V ABI, DWARF register numbers. The return address counts as a register (16, rip); expressions use it as the pc.
inline constexpr int kUnwindBp = 6, kUnwindSp = 7, kUnwindReturn = 16, kUnwindPc = 16;

// Calls push the return address: it stands right below the canonical frame address.
inline constexpr bool kReturnsByLink = false;

// After a signal handler's return rsp points at the ucontext_t that the kernel pushed (uc_flags, uc_link, uc_stack, then the
// general registers r8..r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip). Distances from there.
struct SignalFrame {
    static constexpr uint64_t kRegisters = 40, kBp = kRegisters + 8 * 10, kSp = kRegisters + 8 * 15, kPc = kRegisters + 8 * 16;
    static constexpr uint64_t kLink = 0;
};

inline uint64_t code_address(uint64_t word) { return word; }

// The C library's way back from handlers has call-frame information that says so.
inline constexpr size_t kSignalReturnBytes = 1;
inline bool is_signal_return(const uint8_t*) { return false; }

// Of a frame: where its pc came from follows from its sp, which is always known.
struct ReturnPlace {
    static constexpr bool knows_sp() { return true; }
    static constexpr uint64_t link() { return 0; }
    static constexpr uint64_t address(uint64_t sp) { return sp - 8; }
    static constexpr void loaded_from(uint64_t) {}
    static constexpr void set_link(uint64_t) {}
    static constexpr void forget_sp() {}
};

// Those of remembered frames, by number.
template <uint32_t count> struct ReturnPlaces {
    static constexpr uint64_t address(uint32_t, uint64_t sp) { return sp - 8; }
    static constexpr void set(uint32_t, const ReturnPlace&) {}
};

// Of the function in which this is written, which must have a frame pointer.
#define PLUMB_CALLER_SP() (reinterpret_cast<uint64_t>(__builtin_frame_address(0)) + 16)

// That function's frame, to be handed on: its record of the caller's frame pointer and the return address.
using OwnFrame = const void*;
#define PLUMB_OWN_FRAME() __builtin_frame_address(0)
inline const uint64_t* record_of(OwnFrame frame) { return static_cast<const uint64_t*>(frame); }
inline uint64_t caller_sp(OwnFrame frame) { return reinterpret_cast<uint64_t>(record_of(frame) + 2); }

#elif defined(__aarch64__)

// DWARF for the Arm 64-bit Architecture: x29, sp, x30.
inline constexpr int kUnwindBp = 29, kUnwindSp = 31, kUnwindReturn = 30, kUnwindPc = -1;

// Calls leave the return address in x30, the link register; a function that calls others saves it where it likes.
inline constexpr bool kReturnsByLink = true;

// After a signal handler's return sp points at the kernel's struct rt_sigframe: siginfo (128 bytes), then the ucontext_t, whose
// machine context begins at 176 with the fault address, x0 to x30, sp and pc.
struct SignalFrame {
    static constexpr uint64_t kRegisters = 128 + 176 + 8, kBp = kRegisters + 8 * 29, kLink = kRegisters + 8 * 30,
                              kSp = kRegisters + 8 * 31, kPc = kRegisters + 8 * 32;
};

// Return addresses may be signed (pointer authentication): the signature stands in the bits above user space's 48.
inline uint64_t code_address(uint64_t word) { return word & 0xffff'ffff'ffff; }

// The kernel's way back from handlers has no call-frame information: mov x8, #139 (rt_sigreturn); svc #0.
inline bool is_signal_return(const uint8_t* code) {
    static constexpr uint32_t kCode[] = {0xd2801168, 0xd4000001};
    return memcmp(code, kCode, sizeof kCode) == 0;
}
inline constexpr size_t kSignalReturnBytes = 8;

// Of a frame: where its pc was loaded from, and what else differs from frame to frame.
class ReturnPlace {
  public:
    // Not where it was found by frame pointers alone: those lie anywhere in a frame, and sp is a lower bound then.
    bool knows_sp() const { return !sp_is_bound_; }
    uint64_t link() const { return link_; } // the link register; 0: not known, as in all but the innermost frame
    uint64_t address(uint64_t) const { return address_; } // 0: the pc came from a register
    void loaded_from(uint64_t address) { address_ = address; }
    void set_link(uint64_t link) { link_ = link; }
    void forget_sp() { sp_is_bound_ = true; }

  private:
    uint64_t address_ = 0, link_ = 0;
    bool sp_is_bound_ = false;
};

// Those of remembered frames, by number.
inline constexpr uint64_t kNoReturnAddress = 0;
template <uint32_t count> class ReturnPlaces {
  public:
    // Where nothing is known, of a word that is no return address: what depends on it counts as changed.
    uint64_t address(uint32_t frame, uint64_t) const { return addresses_[frame]; }
    void set(uint32_t frame, const ReturnPlace& place) {
        addresses_[frame] = place.address(0) ? place.address(0) : reinterpret_cast<uint64_t>(&kNoReturnAddress);
    }

  private:
    uint64_t addresses_[count];
};

// Of the function in which this is written, which must have a frame pointer: its record may lie anywhere in the frame.
#if defined(__clang__)
#define PLUMB_CALLER_SP() (reinterpret_cast<uint64_t>(__builtin_sponentry()))
#else
#define PLUMB_CALLER_SP() (reinterpret_cast<uint64_t>(__builtin_dwarf_cfa()))
#endif

// That function's frame, to be handed on: its record of the caller's frame pointer and the return address, and the caller's sp.
struct OwnFrame {
    const void* record;
    uint64_t caller_sp;
};
#define PLUMB_OWN_FRAME() (::plumb::shim::OwnFrame{__builtin_frame_address(0), PLUMB_CALLER_SP()})
inline const uint64_t* record_of(const OwnFrame& frame) { return static_cast<const uint64_t*>(frame.record); }
inline uint64_t caller_sp(const OwnFrame& frame) { return frame.caller_sp; }

#else
#error "unwinding on this architecture is not described yet"
#endif

} // namespace plumb::shim
