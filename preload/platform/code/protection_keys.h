// Memory protection keys (pkeys(7)): the kernel enters every signal handler with a register that denies all memory but that of
// the first key, whatever the interrupted thread may touch. Just-in-time compilers (V8) keep their code under such keys, and a
// handler that reads the interrupted instruction would die of it. The return from the handler gives the thread its own
// register back.
#pragma once

#include <atomic>
#include <stdint.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace plumb::shim {

#if defined(__x86_64__)

// Whether the kernel uses them: without it the instructions below are undefined. Asked once: cpuid is slow in virtual machines.
inline bool has_protection_keys() {
    enum : uint8_t { kNotAsked, kNo, kYes };
    static std::atomic<uint8_t> answer{kNotAsked};
    uint8_t known = answer.load(std::memory_order_relaxed);
    if (__builtin_expect(known == kNotAsked, 0)) {
        constexpr unsigned kFeatures = 7, kEnabledByKernel = 1u << 4; // OSPKE
        unsigned a = 0, b = 0, c = 0, d = 0;
        known = __get_cpuid_count(kFeatures, 0, &a, &b, &c, &d) && c & kEnabledByKernel ? kYes : kNo;
        answer.store(known, std::memory_order_relaxed);
    }
    return known == kYes;
}

inline uint32_t protection_keys() {
    uint32_t rights, zero;
    __asm__ volatile("rdpkru" : "=a"(rights), "=d"(zero) : "c"(0));
    return rights;
}

inline void set_protection_keys(uint32_t rights) { __asm__ volatile("wrpkru" : : "a"(rights), "c"(0), "d"(0) : "memory"); }

// In a signal handler, for a scope: the memory of all keys may be read and written. Where the handler goes on in one of the
// program's, the scope must have ended. Signal-safe, may be nested.
class AllKeysAllowed {
  public:
    AllKeysAllowed() : before_(has_protection_keys() ? protection_keys() : 0) {
        if (before_ != 0)
            set_protection_keys(0);
    }
    ~AllKeysAllowed() {
        if (before_ != 0)
            set_protection_keys(before_);
    }
    AllKeysAllowed(const AllKeysAllowed&) = delete;
    AllKeysAllowed& operator=(const AllKeysAllowed&) = delete;

  private:
    uint32_t before_;
};

#else

struct AllKeysAllowed {
    AllKeysAllowed() {}
    ~AllKeysAllowed() {}
};

#endif

} // namespace plumb::shim
