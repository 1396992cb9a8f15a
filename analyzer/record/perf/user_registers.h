// The user's registers that samples bring. Unwinding needs three or four of them, addresses of memory accesses may need any.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace plumb::record {

#if defined(__x86_64__)

// rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp, rip, r8 to r15, in this order (PERF_REG_X86_).
inline constexpr uint64_t kUserRegisters = 0xff01ff;
inline constexpr size_t kUserRegisterCount = 17, kUserBp = 6, kUserSp = 7, kUserIp = 8; // places in `registers`
// The same in the numbers of DWARF, by which the decoder of instructions names them.
inline constexpr std::array<uint8_t, kUserRegisterCount> kDwarfNumbers = {0, 3,  2,  1,  4,  5,  6,  7, 16,
                                                                          8, 9, 10, 11, 12, 13, 14, 15};

#elif defined(__aarch64__)

// x0 to x30, sp, pc (PERF_REG_ARM64_), which DWARF numbers alike.
inline constexpr uint64_t kUserRegisters = 0x1'ffff'ffff;
inline constexpr size_t kUserRegisterCount = 33, kUserBp = 29, kUserLink = 30, kUserSp = 31, kUserIp = 32;
inline constexpr std::array<uint8_t, kUserRegisterCount> kDwarfNumbers = {
    0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
    17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32};

#else
#error "the registers of this architecture's samples are not described yet"
#endif

// The register that calls leave the return address in, of one sample's `registers`; 0: there is none.
constexpr uint64_t link_in([[maybe_unused]] const uint64_t* registers) {
#if defined(__aarch64__)
    return registers[kUserLink];
#else
    return 0;
#endif
}

} // namespace plumb::record
