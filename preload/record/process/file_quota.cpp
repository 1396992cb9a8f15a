#include "record/process/file_quota.h"

#include "record/process/process.h"

namespace plumb::shim {
namespace {

struct Share {
    const char* source; // of the evidence
    uint32_t divisor;   // the share is the file's limit divided by it
    const char* why;
};
constexpr Share kShares[] = {
    {"threads", 4, "too many threads were created; only the first ones are recorded one by one"},
    {"thread-names", 16, "threads were renamed too often; later names are not recorded"},
    {"modules", 8, "libraries were loaded and unloaded too often; later ones are not recorded"},
    {"alignment-counts", 2, "too many threads executed too many unaligned instructions; later ones are only counted as lost"},
    {"openmp-threads", 4, "too many threads took part in OpenMP regions one after another; later ones are not recorded"},
};
static_assert(sizeof kShares / sizeof kShares[0] == static_cast<uint32_t>(FileQuota::count));

std::atomic<uint64_t> spent[static_cast<uint32_t>(FileQuota::count)];

} // namespace

bool spend(const Guard& guard, FileQuota quota, uint32_t bytes) {
    const auto index = static_cast<uint32_t>(quota);
    const Share& share = kShares[index];
    if (spent[index].load(std::memory_order_relaxed) + bytes <= trace_file().limit_bytes() / share.divisor) {
        spent[index].fetch_add(bytes, std::memory_order_relaxed);
        return true;
    }
    write_evidence(guard, share.source, trace::EvidenceState::limited, share.why, "a larger PLUMB_FILE_LIMIT");
    return false;
}

void reset_file_quotas() {
    for (std::atomic<uint64_t>& bytes : spent)
        bytes.store(0, std::memory_order_relaxed);
}

} // namespace plumb::shim
