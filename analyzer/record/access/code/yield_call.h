// Functions that do nothing but give their CPU away: sched_yield of a C library, the stubs that lead to it from other modules,
// and wrappers without a branch (std::this_thread::yield, yield_now of Rust). Decided on code alone.
#pragma once

#include "platform/code/decoder.h" // of the shim

#include <cstddef>
#include <cstdint>
#include <functional>

namespace plumb::record {

// Copies at most `bytes` bytes of the process's memory at `address`; returns how many.
using ReadMemory = std::function<size_t(uint64_t address, uint8_t* to, size_t bytes)>;

// Whether the call instruction at `call` goes to a function that makes the system call sched_yield, no other one, stores to
// nothing but its own stack, and returns. The stub of a function that the loader has not bound yet is not followed. `registers`: of
// the thread, there or in the function that is called; null: not known. Those that functions preserve may hold whom it calls. The
// decoder must be loaded.
bool call_only_yields(const ReadMemory& memory, uint64_t call, const shim::Registers* registers = nullptr);

// `code` ends where a system call that has been made returns to: whether that is sched_yield.
bool ends_with_yield(const uint8_t* code, size_t bytes);
inline constexpr size_t kYieldBytes = shim::kDecodesA64 ? 8 : 7; // that ends_with_yield looks at

} // namespace plumb::record
