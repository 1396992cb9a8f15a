// Code that is known to leave the processor's flags alone, shared by the processes of a run (plumb/flag_scan_list.h): a build starts
// its compiler a thousand times. Where the run directory cannot be read or written, nothing is known.
// To be called by one thread at a time (under the renewal of code_ranges.h); not signal-safe.
#pragma once

#include "platform/elf/elf_notes.h"

#include <stdint.h>

namespace plumb::shim {

// `segment`: the address of the executable segment in the file that the build id belongs to.
bool is_known_flag_free(const BuildId& image, uint64_t segment);
void remember_flag_free(const BuildId& image, uint64_t segment);

} // namespace plumb::shim
