// Memory for instructions that the shim writes.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace plumb::shim {

// Pages that can be written and executed, within 1 GiB below `near` where there is room. Null: hardened kernels refuse
// such pages, or nothing is free there. Signal-safe; errno is untouched. `bytes` is a multiple of the page size.
uint8_t* allocate_code(uint64_t near, size_t bytes);

} // namespace plumb::shim
