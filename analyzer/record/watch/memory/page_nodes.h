// On which NUMA node the pages of a process lie. A page's address is all the kernel needs: nothing is moved, nothing is
// faulted in, and the process does not notice.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace plumb::record {

// Fills `nodes` (as many as `addresses`): the node, or minus an errno for a page that has none (-ENOENT: never touched,
// -EFAULT: not mapped, or the page of zeros that stands for memory that was only read). Returns 0, or the errno for which
// nothing is known of any (ESRCH: the process has ended).
using PageNodeLookup =
    std::function<int(uint32_t pid, std::span<const uint64_t> addresses, std::span<int> nodes)>;

// move_pages(2): about 0.8 us for one address, 0.3 us each for many. The caller must be allowed to look at the process.
int look_up_page_nodes(uint32_t pid, std::span<const uint64_t> addresses, std::span<int> nodes);

// Empty where look_up_page_nodes() works in general, else why not, in words.
std::string why_no_page_nodes(const PageNodeLookup& look_up);

} // namespace plumb::record
