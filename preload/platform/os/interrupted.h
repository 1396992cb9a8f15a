// Where a signal interrupted a thread. The architecture-bound part of reading a signal context.
#pragma once

#include <stdint.h>
#include <ucontext.h>

namespace plumb::shim {

struct Interrupted {
    uint64_t pc, sp, bp;
    uint64_t link; // the register that calls leave the return address in, 0 where there is none
};

inline Interrupted interrupted_at(const void* context) {
    const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
    return {static_cast<uint64_t>(machine.gregs[REG_RIP]), static_cast<uint64_t>(machine.gregs[REG_RSP]),
            static_cast<uint64_t>(machine.gregs[REG_RBP]), 0};
#elif defined(__aarch64__)
    return {machine.pc, machine.sp, machine.regs[29], machine.regs[30]};
#endif
}

// Whether the thread was in a system call: the signal is then delivered on its way back, just behind the instruction
// that made it. A thread interrupted at that very place in user mode counts too: it runs there for one
// instruction.
inline bool is_behind_system_call(uint64_t pc) {
#if defined(__x86_64__)
    constexpr uint64_t kLength = 2;
    if ((pc & 4095) < kLength)
        return false; // the bytes before may not be mapped
    const auto* code = reinterpret_cast<const uint8_t*>(pc - kLength);
    return code[0] == 0x0f && code[1] == 0x05;
#elif defined(__aarch64__)
    return (pc & 4095) >= 4 && *reinterpret_cast<const uint32_t*>(pc - 4) == 0xd4000001;
#endif
}

} // namespace plumb::shim
