#include "platform/os/affinity.h"

#include "platform/os/system_call.h"

#include <errno.h>
#include <limits.h>

namespace plumb::shim {
namespace {

using Word = unsigned long;
constexpr int kWordBits = sizeof(Word) * CHAR_BIT;

// linux/mempolicy.h, part of the kernel's interface
constexpr long kPolicyPreferred = 1, kPolicyBind = 2;
constexpr int kMostNodes = 1024;

template <size_t Words> bool set_bit(Word (&mask)[Words], int bit) {
    if (bit < 0 || static_cast<size_t>(bit) >= Words * kWordBits)
        return false;
    mask[bit / kWordBits] |= Word{1} << (bit % kWordBits);
    return true;
}

} // namespace

int pin_to_cpu(uint32_t tid, int cpu) {
    const int32_t one = cpu;
    return pin_to_cpus(tid, &one, 1);
}

int pin_to_cpus(uint32_t tid, const int32_t* cpus, size_t count) {
    Word mask[kMostCpus / kWordBits] = {};
    for (size_t i = 0; i < count; ++i)
        if (!set_bit(mask, cpus[i]))
            return -EINVAL;
    return static_cast<int>(system_call(SYS_sched_setaffinity, tid, sizeof mask, word(mask)));
}

int current_node() {
    unsigned cpu = 0, node = 0;
    const long result = system_call(SYS_getcpu, word(&cpu), word(&node));
    return result < 0 ? static_cast<int>(result) : static_cast<int>(node);
}

int bind_memory(int node, MemoryPolicy policy) {
    Word mask[kMostNodes / kWordBits] = {};
    if (!set_bit(mask, node))
        return -EINVAL;
    return static_cast<int>(system_call(SYS_set_mempolicy,
                                        policy == MemoryPolicy::strict ? kPolicyBind : kPolicyPreferred, word(mask),
                                        kMostNodes + 1)); // the kernel takes one bit less than it is given
}

} // namespace plumb::shim
