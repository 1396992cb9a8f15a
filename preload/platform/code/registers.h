// The general registers of the architecture by their DWARF numbers, and how a signal's context holds them.
#pragma once

#include <stdint.h>
#include <ucontext.h>

namespace plumb::shim {

inline constexpr int kNoRegister = -1;

#if defined(__x86_64__)

// 0 rax, 1 rdx, 2 rcx, 3 rbx, 4 rsi, 5 rdi, 6 rbp, 7 rsp, 8 to 15 r8 to r15; 16: the address of the next instruction.
inline constexpr int kFramePointer = 6, kStackPointer = 7, kNextInstruction = 16;
// By the System V convention a function need not keep them: rax, rcx, rdx, rsi, rdi, r8 to r11.
inline constexpr uint32_t kCallerSaved = 1u << 0 | 1u << 1 | 1u << 2 | 1u << 4 | 1u << 5 | 0xfu << 8;
inline constexpr bool kIndexMayBePart = false; // of an address: the lower half of a register

#elif defined(__aarch64__)

// 0 to 30 x0 to x30, 31 sp; 32: the address of the next instruction.
inline constexpr int kFramePointer = 29, kStackPointer = 31, kNextInstruction = 32;
// By AAPCS64 a function need not keep them: x0 to x18, and x30, which every call sets.
inline constexpr uint32_t kCallerSaved = 0x7ffff | 1u << 30;
inline constexpr bool kIndexMayBePart = true;

#else
#error "the registers of this architecture are not described yet"
#endif

inline constexpr int kRegisterCount = kNextInstruction + 1;
inline constexpr uint32_t kGeneralRegisters = ~uint32_t{0} >> (32 - kNextInstruction); // bit n: register n
using Registers = uint64_t[kRegisterCount];

// Those of the moment when a signal came to an instruction of `length` bytes. Signal-safe.
inline void load_registers(const ucontext_t& context, unsigned length, Registers& registers) {
#if defined(__x86_64__)
    static constexpr int in_dwarf_order[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
                                             REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    for (int i = 0; i < kNextInstruction; ++i)
        registers[i] = static_cast<uint64_t>(context.uc_mcontext.gregs[in_dwarf_order[i]]);
    registers[kNextInstruction] = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]) + length;
#elif defined(__aarch64__)
    for (int i = 0; i < kStackPointer; ++i)
        registers[i] = context.uc_mcontext.regs[i];
    registers[kStackPointer] = context.uc_mcontext.sp;
    registers[kNextInstruction] = context.uc_mcontext.pc + length;
#endif
}

} // namespace plumb::shim
