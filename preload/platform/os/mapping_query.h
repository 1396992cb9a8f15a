// One mapping of this process, asked for by its address: since Linux 6.11 the kernel answers without writing the whole list.
#pragma once

#include "platform/os/maps_file.h"

#include <stddef.h>
#include <stdint.h>

namespace plumb::shim {

// The mapping at `address`, by a descriptor of /proc/self/maps. `buffer` takes the path, which `mapping` refers to. Returns
// 0 or a negative error number: -ENOENT where nothing is mapped, -ENOTTY before Linux 6.11, -ENAMETOOLONG for a path that
// does not fit. Signal-safe; keeps errno.
int query_mapping(int descriptor, uint64_t address, char* buffer, size_t bytes, Mapping* mapping);

} // namespace plumb::shim
