#include "record/watch/threads/overdue_sleeps.h"

#include <cstddef>
#include <cstdint>

namespace plumb::record {

namespace {

// One that wakes up, finds nothing and sleeps again takes some microseconds. What takes longer is work.
constexpr uint64_t kMoreThanALook_ns = 50'000;

bool has_worked(const LookedAt& thread) {
    if (thread.blocked_ns == 0)
        return false;
    if (!thread.moment.sleeps) // one that is asked for little, and waits for most of its life, may bring what others look for
        return true;
    return !thread.moment.idles && (thread.unblocked_ns == 0 || thread.blocked_ns - thread.unblocked_ns >= kMoreThanALook_ns);
}

} // namespace

void mark_overdue(std::vector<LookedAt>& threads) {
    uint64_t latest_ns = 0, second_ns = 0; // ends of work
    size_t latest = threads.size();
    for (size_t index = 0; index < threads.size(); ++index) {
        const uint64_t end_ns = has_worked(threads[index]) ? threads[index].blocked_ns : 0;
        if (end_ns > latest_ns) {
            second_ns = latest_ns;
            latest_ns = end_ns;
            latest = index;
        } else if (end_ns > second_ns) {
            second_ns = end_ns;
        }
    }
    for (size_t index = 0; index < threads.size(); ++index) {
        LookedAt& thread = threads[index];
        thread.overdue = thread.moment.sleeps && !thread.moment.at_set_time && thread.blocked_ns != 0 &&
                         (index == latest ? second_ns : latest_ns) > thread.blocked_ns;
    }
}

} // namespace plumb::record
