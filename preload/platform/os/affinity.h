// CPU masks and memory policies of threads, by system call. All return 0 or a negative error number; signal-safe.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace plumb::shim {

inline constexpr int kMostCpus = 1 << 16;

// tid 0: the calling thread, which runs there when the call returns.
int pin_to_cpu(uint32_t tid, int cpu);
int pin_to_cpus(uint32_t tid, const int32_t* cpus, size_t count);

// The NUMA node of the CPU that the caller runs on; negative error number if the kernel does not say.
int current_node();

enum class MemoryPolicy { prefer, strict };

// Pages that the calling thread touches first come from `node`: prefer spills to other nodes when it is full,
// strict does not.
int bind_memory(int node, MemoryPolicy policy);

} // namespace plumb::shim
