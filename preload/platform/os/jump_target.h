// Where a jump leads.
#pragma once

#include <setjmp.h>
#include <stdint.h>
#include <ucontext.h>

namespace plumb::shim {

// The stack pointer behind a jump. The C library stores it in disguise (PTR_MANGLE of glibc); where it does so in another
// way the result is any number, so callers must check that it lies on a stack that they know. 0: not known.
inline uint64_t stack_pointer_of(const __jmp_buf_tag& buffer) {
#if defined(__x86_64__) && defined(__LP64__)
    constexpr int kStackPointer = 6, kRotation = 17;
    const auto stored = static_cast<uint64_t>(buffer.__jmpbuf[kStackPointer]);
    uint64_t secret;
    __asm__("movq %%fs:0x30, %0" : "=r"(secret));
    return (stored >> kRotation | stored << (64 - kRotation)) ^ secret;
#else
    static_cast<void>(buffer);
    return 0;
#endif
}

inline uint64_t stack_pointer_of(const ucontext_t& context) {
#if defined(__x86_64__)
    return static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RSP]);
#elif defined(__aarch64__)
    return context.uc_mcontext.sp;
#else
    static_cast<void>(context);
    return 0;
#endif
}

} // namespace plumb::shim
