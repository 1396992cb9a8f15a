#include "record/perf_ring.h"

#include <cerrno>
#include <cstring>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace plumb::record {

namespace {
const size_t page_bytes = sysconf(_SC_PAGESIZE);
}

PerfRing::PerfRing(PerfRing&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), cpu_(other.cpu_), pages_(other.pages_),
      base_(std::exchange(other.base_, nullptr)) {}

PerfRing::~PerfRing() {
    if (base_)
        munmap(base_, (1 + pages_) * page_bytes);
    if (fd_ >= 0)
        close(fd_);
}

int PerfRing::open(const perf_event_attr& attributes, int pid, int cpu, size_t pages) {
    perf_event_attr copy = attributes; // the kernel writes its own size into it when it knows a smaller one
    fd_ = static_cast<int>(syscall(SYS_perf_event_open, &copy, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC));
    if (fd_ < 0)
        return errno;
    cpu_ = cpu;
    for (pages_ = pages; pages_ >= 1; pages_ /= 2) {
        void* place = mmap(nullptr, (1 + pages_) * page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
        if (place != MAP_FAILED) {
            base_ = static_cast<char*>(place);
            return 0;
        }
        if (errno != EPERM && errno != ENOMEM && errno != EAGAIN)
            break;
    }
    const int error = errno;
    close(fd_);
    fd_ = -1;
    return error;
}

int PerfRing::open_into(const perf_event_attr& attributes, int pid, const PerfRing& other) {
    perf_event_attr copy = attributes;
    fd_ = static_cast<int>(syscall(SYS_perf_event_open, &copy, pid, other.cpu_, -1, PERF_FLAG_FD_CLOEXEC));
    if (fd_ < 0)
        return errno;
    cpu_ = other.cpu_;
    if (ioctl(fd_, PERF_EVENT_IOC_SET_OUTPUT, other.fd_) == 0)
        return 0;
    const int error = errno;
    close(fd_);
    fd_ = -1;
    return error;
}

void PerfRing::drain(const std::function<void(const perf_event_header&)>& take) {
    auto* control = reinterpret_cast<perf_event_mmap_page*>(base_);
    const char* data = base_ + page_bytes;
    const size_t size = pages_ * page_bytes;
    const uint64_t head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
    uint64_t tail = control->data_tail;
    alignas(8) static thread_local char wrapped[65536]; // a record has at most 65,535 bytes
    while (tail < head) {
        const size_t at = tail % size;
        const auto* header = reinterpret_cast<const perf_event_header*>(data + at); // never wraps: multiple of 8
        const size_t bytes = header->size;
        if (bytes < sizeof *header || bytes > head - tail)
            break; // cannot happen with a sane kernel; give the room up rather than read outside
        if (at + bytes > size) {
            std::memcpy(wrapped, data + at, size - at);
            std::memcpy(wrapped + (size - at), data, bytes - (size - at));
            header = reinterpret_cast<const perf_event_header*>(wrapped);
        }
        take(*header);
        tail += bytes;
    }
    __atomic_store_n(&control->data_tail, head, __ATOMIC_RELEASE);
}

void PerfRing::enable_for(int samples) { ioctl(fd_, PERF_EVENT_IOC_REFRESH, samples); }

void PerfRing::enable(bool on) { ioctl(fd_, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0); }

} // namespace plumb::record
