// Memory of the shim's own: never malloc, which the shim hooks and the program may replace.
#pragma once

#include <stddef.h>

namespace plumb::shim {

// Zeroed pages; null: none. With `wiped_on_fork` a forked child, however it was forked, finds them zeroed again, so
// that nothing which describes the parent's recording can be mistaken for the child's (Linux 4.14; on older
// kernels the pages are copied and only fork() itself is noticed). Signal-safe; errno is untouched.
void* allocate_pages(size_t bytes, bool wiped_on_fork);
void release_pages(void* pages, size_t bytes);

// For tables that are touched here and there: no huge pages, which would put memory behind all of it.
void keep_small_pages(void* pages, size_t bytes);

// Address space without memory behind it, to be mapped over; null: none.
void* reserve_address_space(size_t bytes);

} // namespace plumb::shim
