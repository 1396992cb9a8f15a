#include "record/perf/ring_plan.h"

#include "platform/read_file.h"

#include <algorithm>
#include <bit>
#include <sys/resource.h>

namespace plumb::record {

LockedMemory LockedMemory::now(const std::string& root, size_t online_cpus) {
    constexpr uint64_t kKernelDefault_kib = 516, kUnlimited = 1ull << 40;
    LockedMemory room;
    const auto kib = platform::read_number(root + "/proc/sys/kernel/perf_event_mlock_kb");
    room.of_user_bytes = (kib && *kib >= 0 ? static_cast<uint64_t>(*kib) : kKernelDefault_kib) * 1024 * online_cpus;
    rlimit limit{};
    if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0)
        room.of_process_bytes = std::min<uint64_t>(limit.rlim_cur, kUnlimited);
    return room;
}

size_t ring_pages(size_t wanted, size_t rings, size_t recorders, const LockedMemory& room, size_t page_bytes) {
    const uint64_t share = room.of_user_bytes / std::max<size_t>(recorders, 1) + room.of_process_bytes;
    const uint64_t pages = share / 4 * 3 / std::max<size_t>(rings, 1) / page_bytes;
    return pages < 2 ? 1 : std::min<size_t>(wanted, std::bit_floor(pages - 1));
}

} // namespace plumb::record
