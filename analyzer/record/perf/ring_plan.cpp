#include "record/perf/ring_plan.h"

#include "platform/read_file.h"

#include <algorithm>
#include <bit>
#include <sys/resource.h>

namespace plumb::record {

namespace {

constexpr size_t kManyCpus = 64;          // an event on each makes thread creation slow
constexpr size_t kFewCpus = 8;            // rings of threads would take as much
constexpr size_t kLeastPages = 4;         // of a CPU's ring where there are more CPUs: three samples with their stacks
constexpr size_t kMostEventsOfNode = 4096; // of one job: descriptors, and what each costs the kernel
constexpr size_t kThreadPages = 16, kLikelyThreads = 8;
constexpr size_t kModestPages = 16; // of a CPU's ring in memory that others may need, too

// Of one recorder that knows of `recorders`, beyond what rings opened later need.
uint64_t share_of(const LockedMemory& room, size_t recorders) {
    return (room.of_user_bytes / std::max<size_t>(recorders, 1) + room.of_process_bytes) / 4 * 3;
}

size_t pages_of(uint64_t share, size_t wanted, size_t rings, size_t page_bytes) {
    const uint64_t pages = share / std::max<size_t>(rings, 1) / page_bytes;
    return pages < 2 ? 1 : std::min<size_t>(wanted, std::bit_floor(pages - 1));
}

} // namespace

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
    return pages_of(share_of(room, recorders), wanted, rings, page_bytes);
}

RingPlan plan_rings(const RingNeeds& needs, const LockedMemory& room, size_t page_bytes) {
    RingPlan plan;
    const bool bound = needs.recorders > 1 && !needs.allowed.empty() && needs.allowed.size() < needs.online.size();
    const bool few = !needs.online.empty() && needs.online.size() <= kManyCpus;
    plan.cpus = bound || !few ? needs.allowed : needs.online;
    const size_t cpus = plan.cpus.size();
    size_t wanted = needs.wanted_pages;
    if (needs.recorders <= 1 && cpus * (wanted + 1) * page_bytes > room.of_process_bytes) {
        wanted = std::max(std::min(wanted, kModestPages), ring_pages(wanted, cpus, 1, {0, room.of_process_bytes}, page_bytes));
        if (cpus * (wanted + 1) * page_bytes > room.of_process_bytes)
            plan.left_bytes = room.of_user_bytes / 2;
    }
    plan.pages = ring_pages(wanted, cpus, needs.recorders, room, page_bytes);
    plan.per_thread = cpus > kFewCpus && (plan.pages < kLeastPages || cpus * needs.recorders > kMostEventsOfNode);
    if (plan.per_thread)
        plan.pages = pages_of(share_of(room, needs.recorders), kThreadPages, kLikelyThreads, page_bytes);
    return plan;
}

void take_least(RingPlan& plan) {
    plan.per_thread |= plan.cpus.size() > kFewCpus;
    plan.pages = 1;
}

} // namespace plumb::record
