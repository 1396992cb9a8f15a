#include "probe/measure/arena.h"

#include "platform/huge_pages.h"
#include "support/memory_units.h"
#include "support/xorshift.h"

#include <algorithm>
#include <cerrno>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace plumb::probe {

namespace {

constexpr uint64_t kHuge = 2u << 20;
constexpr int kPopulateWrite = 23; // MADV_POPULATE_WRITE (Linux 5.14)

bool make_resident(char* data, uint64_t bytes) {
    if (madvise(data, bytes, kPopulateWrite) == 0)
        return true;
    if (errno != EINVAL)
        return false;
    for (uint64_t at = 0; at < bytes; at += kPage)
        *const_cast<volatile char*>(data + at) = 0;
    return true;
}

} // namespace

Arena::Arena(uint64_t bytes, int node, Pages pages) : node_(node), pages_(pages), bytes_(bytes / kHuge * kHuge) {
    data_ = take(memory_);
}

// At a huge page's start, on the node; nullptr: there is none.
char* Arena::take(std::unique_ptr<platform::AnonymousMemory>& memory) const {
    memory = std::make_unique<platform::AnonymousMemory>(bytes_ + kHuge);
    if (!*memory)
        return nullptr;
    char* const data = reinterpret_cast<char*>((memory->address() + kHuge - 1) / kHuge * kHuge);
    if (node_ >= 0) {
        std::vector<unsigned long> mask(static_cast<size_t>(node_) / 64 + 1);
        mask.back() = 1ul << (static_cast<size_t>(node_) % 64);
        // Refused where the kernel knows no nodes: then there is one, and it is this.
        syscall(SYS_mbind, data, bytes_, MPOL_BIND, mask.data(), mask.size() * 64 + 1, 0);
    }
    madvise(data, bytes_, pages_ == Pages::huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    return data;
}

bool Arena::fill() {
    if (!data_ || bytes_ == 0 || !make_resident(data_, bytes_))
        return false;
    place_ = build_ring(data_, bytes_);
    return true;
}

void Arena::move(size_t most_kept) {
    while (!left_.empty() && left_.size() >= most_kept)
        left_.pop_front();
    std::unique_ptr<platform::AnonymousMemory> memory;
    char* const to = take(memory);
    if (!to || !place_ || !make_resident(to, bytes_))
        return;
    const auto moved = [&](void* place) { return to + (static_cast<char*>(place) - data_); };
    for (uint64_t at = 0; at < bytes_; at += kLine)
        *reinterpret_cast<void**>(to + at) = moved(*reinterpret_cast<void**>(data_ + at));
    place_ = reinterpret_cast<void**>(moved(place_));
    if (most_kept > 0)
        left_.push_back(std::move(memory_));
    memory_ = std::move(memory);
    data_ = to;
}

double Arena::huge_share() const {
    const auto start = reinterpret_cast<uintptr_t>(data_);
    uint64_t huge = 0;
    for (const platform::PageBacking& area : platform::read_page_backing("/proc", static_cast<uint32_t>(getpid())))
        if (area.mapping.start < start + bytes_ && area.mapping.end > start)
            huge += area.huge_bytes;
    return bytes_ ? std::min(1.0, static_cast<double>(huge) / static_cast<double>(bytes_)) : 0;
}

// Sattolo's shuffle: one cycle through all lines.
void** build_ring(char* data, uint64_t bytes) {
    const auto lines = static_cast<uint32_t>(bytes / kLine);
    std::vector<uint32_t> next(lines);
    for (uint32_t i = 0; i < lines; ++i)
        next[i] = i;
    Xorshift random;
    for (uint32_t i = lines - 1; i > 0; --i)
        std::swap(next[i], next[(random.next() >> 32) * i >> 32]);
    for (uint32_t i = 0; i < lines; ++i)
        *reinterpret_cast<void**>(data + i * kLine) = data + next[i] * kLine;
    return reinterpret_cast<void**>(data);
}

} // namespace plumb::probe
