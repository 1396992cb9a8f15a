// Changes the bytes of one instruction of the program while other threads may execute it.
//
// No thread stands inside an instruction, only at its first byte. So: a breakpoint on the first byte that changes,
// every processor of the process made to see it, then the other bytes, seen again, then that first byte. A thread
// that runs into the breakpoint meanwhile gets SIGTRAP, whose handler must know where to send it.
#pragma once

#include <stdint.h>

namespace plumb::shim {

struct CodePatch {
    uint64_t address;
    uint8_t length;     // bytes that may change, at most 15
    uint8_t kept;       // leading bytes that are the same before and after; the breakpoint stands behind them
    uint8_t before[16];
    uint8_t after[16];
};

// Whether this kernel can make all processors see changed code (membarrier). Signal-safe; asks once a process image.
bool can_patch_code();

// Whether all `bytes` from `address` on lie in one private, executable, not writable mapping of a file.
bool is_file_code(uint64_t address, uint64_t bytes);

// Changes `before` into `after`, or back. 0 or a negative error number: then nothing was changed. The caller holds a
// lock; signal-safe. The pages are writable for that moment and keep their protection.
int apply_patch(const CodePatch& patch);
int undo_patch(const CodePatch& patch);

// In a forked child: brings to its end what another thread of the parent had half done.
void finish_interrupted_patch();

} // namespace plumb::shim
