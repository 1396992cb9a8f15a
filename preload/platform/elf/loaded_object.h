// Which loaded image an address belongs to.
#pragma once

#include <link.h>

namespace plumb::shim {

// The image (program or library) that contains `address`; null: none. Its l_name is "" for the program itself. May take
// the loader's lock where the C library is older than glibc 2.35.
const link_map* loaded_object(const void* address);

// The same, but null where that would take a lock: for places where another thread may hold it while it waits for the
// calling one. Signal-safe.
const link_map* loaded_object_without_lock(const void* address);

} // namespace plumb::shim
